// Who this is. The version has one place, package.json; the build inlines it.

import manifest from "../package.json" with { type: "json" };

export const VERSION = manifest.version;
export const WEBSITE = manifest.homepage;
/** Documents in a form that a user can open from a chat. */
export const DOCS = `${WEBSITE.replace(/#.*$/, "")}/blob/main/docs`;
/** True if npx can start this server. */
export const IS_ON_NPM = manifest.isOnNpm;
