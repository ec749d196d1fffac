// The sandbox account's platform connections: two that work, and one that looks connected and fails every post.

export interface ConnectedPlatform {
  readonly platform: string;
  readonly account: string;
  readonly connectedAt: string;
}

export type PublishResult =
  | { readonly platform: string; readonly ok: true; readonly url: string }
  | { readonly platform: string; readonly ok: false; readonly error: string };

export const connectedPlatforms: readonly ConnectedPlatform[] = [
  { platform: "tiktok", account: "@sandbox.clips", connectedAt: "2026-01-12T09:00:00.000Z" },
  { platform: "youtube", account: "Sandbox Clips", connectedAt: "2026-01-12T09:05:00.000Z" },
  { platform: "instagram", account: "@sandbox.reels", connectedAt: "2026-01-12T09:10:00.000Z" },
];

const expired = "instagram";

/** Why a post to this platform can't be made; undefined where it can. */
export function publishObstacle(platform: string): string | undefined {
  if (!connectedPlatforms.some((connected) => connected.platform === platform)) {
    return `No ${platform} account is connected.`;
  }
  if (platform === expired) return `The ${platform} access token has expired. Reconnect the account.`;
  return undefined;
}
