// The platforms by their usual ids: how they write themselves, for the texts and the card alike, and the other
// names that users and models write, without signs between the letters.
export const PLATFORMS = new Map<string, readonly [title: string, otherNames?: RegExp]>([
  ["tiktok", ["TikTok", /^tt$/]],
  ["youtube", ["YouTube", /^(?:yt|(?:youtube)?shorts)$/]],
  ["instagram", ["Instagram", /^(?:insta|ig|(?:instagram)?reels)$/]],
  ["facebook", ["Facebook", /^fb$/]],
  ["linkedin", ["LinkedIn"]],
  ["pinterest", ["Pinterest"]],
  ["snapchat", ["Snapchat"]],
  ["threads", ["Threads"]],
  ["x", ["X", /^twitter$/]],
]);
