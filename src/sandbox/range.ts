// RFC 9110 byte ranges, one at a time. Pure.

export interface ByteRange {
  readonly first: number;
  readonly last: number;
}

/**
 * What a Range header asks for of `size` bytes: a range, "unsatisfiable" (a 416), or undefined where the header is to be
 * ignored: none, another unit, several ranges, or a malformed one.
 */
export function parseRange(
  header: string | undefined,
  size: number,
): ByteRange | "unsatisfiable" | undefined {
  const match = /^bytes=(\d*)-(\d*)$/i.exec(header?.trim() ?? "");
  const [from, to] = [match?.[1] ?? "", match?.[2] ?? ""];
  if (from === "" && to === "") return undefined;
  if (from === "") {
    const length = Math.min(Number(to), size);
    return length > 0 ? { first: size - length, last: size - 1 } : "unsatisfiable";
  }
  const first = Number(from);
  const last = to === "" ? size - 1 : Number(to);
  if (last < first && to !== "") return undefined;
  return first < size ? { first, last: Math.min(last, size - 1) } : "unsatisfiable";
}
