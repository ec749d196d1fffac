// Where watched jobs are in the video list, newest first, and which of its pages are worth a request. Asks nobody itself.

/** What the list can do, as far as it is known by now. */
export interface Listing {
  readonly maxLimit: number;
  /** Whether the name of the paging parameter is confirmed. */
  readonly canPage: boolean;
}

export interface ListedJob {
  /** Where in the list it was last seen; Infinity when it is not in the list. */
  index: number;
  /** The list was wrong about it. */
  readonly refuted: boolean;
}

/** One request of a walk down the list. */
export interface Page {
  /** From 1. */
  readonly number: number;
  /** How many pages the walk is to be. */
  readonly of: number;
  readonly limit: number;
  readonly cursor: string | undefined;
}

export interface ListWalk {
  /** On which page the job is believed to be; Infinity where the list is of no use for it. */
  pageOf(job: ListedJob): number;
  /** How many pages to walk, so that these jobs cost fewer requests than one each; 0 for none. */
  pagesWorthAWalk(jobs: readonly ListedJob[]): number;
  /** The first page of such a walk, with a limit as small as covers the jobs that it may find. */
  start(pages: number, watched: readonly ListedJob[]): Page;
  /** The page that a walk goes on with, while any of these jobs is believed to be there. */
  next(watched: readonly ListedJob[]): Page | undefined;
  /** Where the list has shown a job. */
  found(job: ListedJob, page: Page, index: number): void;
  /** After the jobs that were found: these were looked for in vain. */
  answered(page: Page, nextCursor: string | undefined, missing: readonly ListedJob[]): void;
  /** The walk is over, and its pages from this one on rest for a while. */
  failed(page: Page): void;
}

const MOST_PAGES = 20;
/** After a failure the jobs are asked for by themselves: the list may be broken where the status is not. */
const REST = { firstMs: 15_000, maxMs: 600_000 } as const;

export function createListWalk(options: { listing: () => Listing; now: () => number }): ListWalk {
  const { listing, now } = options;
  let next: Page | undefined;
  let rest = { fromPage: Infinity, failures: 0, forMs: 0, untilMs: 0 };

  const usablePages = () => {
    const most = listing().canPage ? MOST_PAGES : 1;
    const leftMs = rest.untilMs - now();
    // More than it began with: the clock was set back.
    return leftMs > 0 && leftMs <= rest.forMs ? Math.min(most, rest.fromPage - 1) : most;
  };

  const pageOf = ({ index, refuted }: ListedJob) => {
    const page = Math.floor(index / listing().maxLimit) + 1;
    return !refuted && page <= usablePages() ? page : Infinity;
  };

  return {
    pageOf,

    pagesWorthAWalk(jobs) {
      // One job is asked for by itself, and has nobody read what the list can do.
      if (jobs.length < 2) return 0;
      const onPage = Array.from({ length: usablePages() }, () => 0);
      for (const job of jobs) {
        const page = pageOf(job);
        if (page !== Infinity) onPage[page - 1] = (onPage[page - 1] ?? 0) + 1;
      }
      let best = { pages: 0, saved: 0 };
      let saved = 0;
      for (const [index, count] of onPage.entries()) {
        saved += count - 1;
        if (saved > best.saved) best = { pages: index + 1, saved };
      }
      return best.pages;
    },

    start(pages, watched) {
      const { maxLimit } = listing();
      const deepest = Math.max(0, ...watched.filter((job) => pageOf(job) === 1).map(({ index }) => index));
      const limit = pages > 1 ? maxLimit : Math.min(maxLimit, 10 * Math.ceil((deepest + 1) / 10) + 10);
      return { number: 1, of: pages, limit, cursor: undefined };
    },

    next(watched) {
      if (next === undefined) return undefined;
      const { number } = next;
      if (!watched.some((job) => pageOf(job) === number)) next = undefined;
      return next;
    },

    found(job, { number }, index) {
      job.index = (number - 1) * listing().maxLimit + index;
    },

    answered({ number, of, limit }, nextCursor, missing) {
      const { maxLimit } = listing();
      if (number >= rest.fromPage) rest = { ...rest, fromPage: Infinity, failures: 0 };
      // Newer jobs have pushed them down: to the rest of this page, or off it. Or they are not in the list at all.
      const below = limit < maxLimit ? maxLimit - 1 : number * maxLimit;
      for (const job of missing) job.index = nextCursor === undefined ? Infinity : below;
      next =
        nextCursor === undefined || number >= of
          ? undefined
          : { number: number + 1, of, limit, cursor: nextCursor };
    },

    failed({ number }) {
      const failures = rest.failures + 1;
      const forMs = Math.min(REST.maxMs, REST.firstMs * 2 ** (failures - 1));
      rest = { fromPage: number, failures, forMs, untilMs: now() + forMs };
      next = undefined;
    },
  };
}
