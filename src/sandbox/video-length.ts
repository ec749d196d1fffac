// Gives an MP4 file the length that was ordered, by showing its pictures for longer. Nothing is encoded: only the
// durations in the file's index change, so its size and all offsets stay. Sound keeps its own length.

interface Box {
  readonly type: string;
  /** Offsets in the file: where the content begins, and where the box ends. */
  readonly start: number;
  readonly end: number;
}

const BOX_HEADER_BYTES = 8;

/** A copy of `file` whose pictures are spread evenly over `seconds`. `file` has 32-bit index boxes, as ffmpeg writes them. */
export function stretchVideo(file: Buffer, seconds: number): Buffer {
  const copy = Buffer.from(file);
  const movie = child(copy, { type: "file", start: 0, end: copy.length }, "moov");
  const track = children(copy, movie).find((box) => box.type === "trak" && isVideo(copy, box));
  if (track === undefined) throw new Error("The MP4 file has no video track.");
  const media = child(copy, track, "mdia");
  const pictureTimes = child(copy, child(copy, child(copy, media, "minf"), "stbl"), "stts");

  const mediaHeader = child(copy, media, "mdhd").start;
  const unitsPerSecond = copy.readUInt32BE(mediaHeader + 12);
  // Runs of pictures: for each a count and a duration, which all get the same duration.
  const runCount = copy.readUInt32BE(pictureTimes.start + 4);
  const runs = Array.from({ length: runCount }, (_, index) => pictureTimes.start + 8 + index * 8);
  const pictures = runs.reduce((sum, run) => sum + copy.readUInt32BE(run), 0);
  const pictureUnits = Math.round((seconds * unitsPerSecond) / pictures);
  for (const run of runs) copy.writeUInt32BE(pictureUnits, run + 4);
  copy.writeUInt32BE(pictureUnits * pictures, mediaHeader + 16);

  const movieHeader = child(copy, movie, "mvhd").start;
  const movieUnits = Math.round(seconds * copy.readUInt32BE(movieHeader + 12));
  copy.writeUInt32BE(movieUnits, movieHeader + 16);
  copy.writeUInt32BE(movieUnits, child(copy, track, "tkhd").start + 20);
  return copy;
}

function isVideo(file: Buffer, track: Box): boolean {
  const handler = child(file, child(file, track, "mdia"), "hdlr").start;
  return file.toString("latin1", handler + 8, handler + 12) === "vide";
}

function child(file: Buffer, parent: Box, type: string): Box {
  const found = children(file, parent).find((box) => box.type === type);
  if (found === undefined) throw new Error(`The MP4 file has no ${type} in its ${parent.type}.`);
  return found;
}

function children(file: Buffer, { start, end }: Box): Box[] {
  const boxes: Box[] = [];
  for (let at = start; at + BOX_HEADER_BYTES <= end;) {
    const length = Math.max(file.readUInt32BE(at), BOX_HEADER_BYTES);
    boxes.push({
      type: file.toString("latin1", at + 4, at + 8),
      start: at + BOX_HEADER_BYTES,
      end: at + length,
    });
    at += length;
  }
  return boxes;
}
