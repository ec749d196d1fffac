// How the platforms write themselves, by their usual ids, for the texts and the card alike.
export const PLATFORM_TITLES: Readonly<Record<string, string>> = {
  tiktok: "TikTok",
  youtube: "YouTube",
  instagram: "Instagram",
  facebook: "Facebook",
  linkedin: "LinkedIn",
  pinterest: "Pinterest",
  snapchat: "Snapchat",
  threads: "Threads",
  x: "X",
};
