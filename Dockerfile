# For directories of MCP servers, which start each one in a container and list its tools. No image is published: docs/SETTINGS.md has the way
# to run the server in one. Without a key and an address, it is the sandbox.
FROM node:22-slim AS build
WORKDIR /app
COPY . .
RUN npm ci --ignore-scripts && npm run build

FROM node:22-slim
COPY --from=build /app/dist /app/dist
COPY --from=build /app/LICENSE /app/package.json /app/
USER node
ENTRYPOINT ["node", "/app/dist/bin.cjs"]
CMD ["--sandbox=auto"]
