@rem The same as start-server, for Windows.
@cd /d "%SystemRoot%" && npx -y --prefer-offline faceless-video-mcp@0.1.0 %*
