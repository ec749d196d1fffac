import { describe, expect, test } from "vitest";
import {
  SUBJECT_LIMIT,
  WRITE_VIDEO_TOPIC_COMPLETIONS as completions,
  writeVideoTopicArguments,
} from "../../src/prompts/write-video-topic-arguments.ts";
import { STYLES } from "../../src/service/options.ts";

function refusal(args: Record<string, string>): string | undefined {
  return writeVideoTopicArguments
    .safeParse(args)
    .error?.issues.map((issue) => issue.message)
    .join(" ");
}

describe("the arguments", () => {
  test("are strings on the wire and values afterwards", () => {
    expect(
      writeVideoTopicArguments.parse({
        subject: " Tides ",
        style: "ASMR",
        language: "PT-br",
        duration: " 12.5 ",
        audience: "sailors",
      }),
    ).toEqual({ subject: "Tides", style: "asmr", language: "pt-BR", duration: 12.5, audience: "sailors" });
  });

  test("that are blank count as left out, except the subject", () => {
    const { subject, ...rest } = writeVideoTopicArguments.parse({
      subject: "Tides",
      style: "",
      language: " ",
      duration: "\t",
      audience: "",
    });
    expect(subject).toBe("Tides");
    expect(Object.values(rest).filter((value) => value !== undefined)).toEqual([]);
    expect(refusal({ subject: " \n\u200B" })).toBe("must say what the video is about");
    expect(refusal({})).toBe("must say what the video is about");
  });

  const NO_TAG = "must be a BCP-47 tag such as en, fr, es, de or pt-BR; got";

  test.each([
    ["style", "vlog", `must be one of ${STYLES.join(", ")}; got "vlog"`],
    ["language", "en_US", `${NO_TAG} "en_US"`],
    ["language", "klingonese", `${NO_TAG} "klingonese"`],
  ])("%s %s is refused with what is allowed", (name, value, message) => {
    expect(refusal({ subject: "Tides", [name]: value })).toBe(message);
  });

  test.each(["9", "91", "9.99", "1e1", "0x1e", "-30", "30s", "Infinity", "NaN"])(
    "a duration of %s is refused with its bounds",
    (duration) => {
      expect(refusal({ subject: "Tides", duration })).toBe(
        `must be a number of seconds from 10 to 90; got "${duration}"`,
      );
    },
  );

  test.each(["10", "90"])("a duration of %s seconds is within bounds", (duration) => {
    expect(writeVideoTopicArguments.parse({ subject: "Tides", duration }).duration).toBe(Number(duration));
  });

  test("take the English name of an offered language for its tag", () => {
    expect(writeVideoTopicArguments.parse({ subject: "Tides", language: "german" }).language).toBe("de");
  });

  test("keep joiners that scripts and emoji need, and lose what hides", () => {
    const { subject } = writeVideoTopicArguments.parse({
      subject: "می\u200Cخواهم 👩\u200D🍳 a\u202Eb\u0000c\r\nd\u{E0041}\u200B\u200D\u200D\u200D\u200D",
    });
    expect(subject).toBe("می\u200Cخواهم 👩\u200D🍳 abc d");
  });

  test("cut a subject that is an essay, and between characters", () => {
    const { subject } = writeVideoTopicArguments.parse({ subject: "🐙".repeat(SUBJECT_LIMIT * 2) });
    expect(subject).toBe(`${"🐙".repeat(SUBJECT_LIMIT - 1)}…`);
  });
});

describe("the completions", () => {
  test("offer all values for nothing typed, and each of them is accepted", () => {
    for (const [name, complete] of Object.entries(completions)) {
      const values = complete("");
      expect(values.length).toBeGreaterThan(4);
      for (const value of values) expect(refusal({ subject: "Tides", [name]: value })).toBeUndefined();
    }
  });

  test("narrow with what is typed", () => {
    expect({
      style: completions.style("D"),
      languageByTag: completions.language("pt"),
      languageByName: completions.language("ger"),
      duration: completions.duration("1"),
      audience: completions.audience("beg"),
      nothing: completions.style("x"),
    }).toEqual({
      style: ["documentary"],
      languageByTag: ["pt", "pt-BR"],
      languageByName: ["de"],
      duration: ["10", "15"],
      audience: ["complete beginners"],
      nothing: [],
    });
  });
});
