// Where the card's videos come from: a host lets the card play from the origins that it names when it is read, which may be before
// the video's links are known. So the origins of earlier videos are remembered in the state folder.

import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { JobStore } from "../../jobs/job-store.ts";
import type { Log } from "../../log.ts";
import type { Service } from "../../service/client.ts";

export interface MediaOriginsOptions {
  readonly service: Pick<Service, "origin" | "listVideos">;
  readonly jobs: JobStore;
  /** The state folder; undefined remembers nothing beyond this process. */
  readonly folder: string | undefined;
  readonly log: Log;
}

/** A card is read while a call waits for it. */
const LIST_DEADLINE_MS = 1_500;
const MAX_ORIGINS = 12;
const RECENT_JOBS = 50;
const FILE_NAME = "media-origins.json";
/** Stands in a policy: a host name with a ; or a * in it would say more than it should. */
const ORIGIN = /^https?:\/\/([a-z0-9.-]+|\[[0-9a-f:]+\])(:\d+)?$/;

export class MediaOrigins {
  readonly #options: MediaOriginsOptions;
  /** The latest first. */
  #known = new Set<string>();
  /** What the file is known to hold. */
  #remembered: ReadonlySet<string> = new Set();
  #writing: Promise<void> = Promise.resolve();

  constructor(options: MediaOriginsOptions) {
    this.#options = options;
    const { jobs } = options;
    jobs.changes.on((jobId) => this.#note(linksOf(jobs.get(jobId)?.job ?? {})));
  }

  /** The service's own origin, and those of its videos as far as they are known or listed in time. Never rejects. */
  async list(): Promise<readonly string[]> {
    const { service, jobs, log } = this.#options;
    const own = service.origin().catch(() => undefined);
    const newest = service.listVideos({}, { deadlineMs: LIST_DEADLINE_MS }).then(
      ({ videos }) => {
        jobs.updateFromPage(videos, { isFirstPage: true });
        this.#note(videos.flatMap(linksOf));
      },
      (error: unknown) => log.debug("The newest videos could not be listed.", error),
    );
    await this.#read();
    await Promise.race([newest, sleep(LIST_DEADLINE_MS, undefined, { ref: false })]);
    this.#note(
      jobs.recent(RECENT_JOBS).flatMap(({ job, finalVideoUrl }) => linksOf({ ...job, finalVideoUrl })),
    );
    const first = await own;
    const isNamed = first !== undefined && ORIGIN.test(first);
    return isNamed ? [...new Set([first, ...this.#known])] : [...this.#known];
  }

  /** Remembers the origins of links. */
  #note(links: readonly string[]): void {
    const origins = new Set(links.map(originOf).filter((origin) => ORIGIN.test(origin)));
    if (origins.size === 0) return;
    this.#known = new Set([...origins, ...this.#known].slice(0, MAX_ORIGINS));
    if ([...this.#known].every((origin) => this.#remembered.has(origin))) return;
    this.#remembered = new Set(this.#known);
    this.#writing = this.#writing.then(() => this.#write());
  }

  async #read(): Promise<void> {
    const { folder } = this.#options;
    if (folder === undefined) return;
    const stored = await readFile(join(folder, FILE_NAME), "utf8").then(parseOrigins, () => []);
    this.#remembered = new Set(stored);
    this.#known = new Set([...this.#known, ...stored].slice(0, MAX_ORIGINS));
  }

  /** Renamed when whole, since other processes read it. What one of them loses, its next list finds again. */
  async #write(): Promise<void> {
    const { folder, log } = this.#options;
    if (folder === undefined) return;
    const path = join(folder, FILE_NAME);
    const partial = `${path}.${crypto.randomUUID()}`;
    try {
      await mkdir(folder, { recursive: true, mode: 0o700 });
      await writeFile(partial, JSON.stringify([...this.#known]), { mode: 0o600 });
      await rename(partial, path);
    } catch (error) {
      log.debug("The origins of the videos could not be remembered.", error);
    }
  }
}

interface Links {
  readonly videoUrls?: readonly string[] | undefined;
  readonly audioUrl?: string | undefined;
  readonly finalVideoUrl?: string | undefined;
}

function linksOf({ videoUrls = [], audioUrl, finalVideoUrl }: Links): string[] {
  return [...videoUrls, audioUrl, finalVideoUrl].filter((link) => link !== undefined);
}

function originOf(link: string): string {
  return URL.canParse(link) ? new URL(link).origin : "";
}

/** Whatever else the file holds counts for nothing. */
function parseOrigins(text: string): string[] {
  try {
    const stored: unknown = JSON.parse(text);
    return Array.isArray(stored)
      ? stored.filter((origin) => typeof origin === "string" && ORIGIN.test(origin))
      : [];
  } catch {
    return [];
  }
}
