// VS Code's workbench in a real browser, used as a user does: types a prompt into the chat, and answers what
// VS Code or the server asks by clicking.

import { chromium, type BrowserContext, type FrameLocator, type Locator, type Page } from "playwright-core";

/** Ends a wait for something that never comes; far above what a busy machine needs. */
const HANG_MS = 120_000;
const LOOK_AGAIN_MS = 3_000;

export class Workbench {
  readonly #context: BrowserContext;
  readonly #page: Page;
  /** The frame around the frame of an MCP App. */
  readonly #appFrame: Locator;

  private constructor(context: BrowserContext, page: Page) {
    this.#context = context;
    this.#page = page;
    this.#appFrame = page.locator("iframe.webview");
  }

  /** Opens this address with the browser at `executablePath`, which keeps its files in `profile`. */
  static async open(
    url: string,
    profile: string,
    browser: { readonly executablePath: string; readonly env: Readonly<Record<string, string>> },
  ): Promise<Workbench> {
    const viewport = { width: 1400, height: 1000 };
    const options = { ...browser, env: { ...browser.env }, chromiumSandbox: false, viewport };
    const context = await chromium.launchPersistentContext(profile, options);
    context.setDefaultTimeout(HANG_MS);
    const page = context.pages()[0] ?? (await context.newPage());
    await page.goto(url);
    return new Workbench(context, page);
  }

  /** A model of chatLanguageModels.json. VS Code offers it once the list of models has been opened. */
  async chooseModel(name: string): Promise<void> {
    await this.#chatInput().waitFor();
    await this.#runCommand("Chat: Manage Language Models");
    await this.#chatInput(name).waitFor();
    await this.#page.keyboard.press("Escape");
    await this.#page.locator(".modal-editor-part").waitFor({ state: "detached" });
  }

  async prompt(text: string): Promise<void> {
    await this.#chatInput().focus();
    await this.#page.keyboard.type(text);
    await this.#page.keyboard.press("Enter");
  }

  /** Agrees to the call that the model wants to make. */
  async allow(): Promise<void> {
    await clickAway(this.#allowButton());
  }

  /** Answers this server's question before the order. Saves its picture if a file is named. */
  async agreeToOrder(picture?: string): Promise<void> {
    const question = this.#page.getByRole("region", { name: /^Chat question/ });
    const yes = question.getByRole("option").filter({ hasText: /(?:Make|Pay for) this video/ });
    await yes.first().waitFor();
    if (picture !== undefined) await question.screenshot({ path: picture });
    await clickAway(yes.first());
  }

  /** Agrees to whatever the user is asked, until the chat shows these words. */
  async agreeUntil(words: string): Promise<void> {
    const allow = this.#allowButton();
    // An answered question stays in the chat, without its options.
    const yes = this.#page
      .getByRole("region", { name: /^Chat question/ })
      .getByRole("option")
      .filter({ hasText: "Publish on" })
      .first();
    const end = this.#page.locator(".interactive-response").getByText(words).first();
    for (;;) {
      // eslint-disable-next-line no-await-in-loop -- one question after the other
      await allow.or(yes).or(end).first().waitFor();
      // eslint-disable-next-line no-await-in-loop
      if (await end.isVisible()) return;
      // eslint-disable-next-line no-await-in-loop
      await clickAway((await yes.isVisible()) ? yes : allow);
    }
  }

  /** An app's question, which VS Code asks in a notification. */
  get question(): Locator {
    return this.#page.getByRole("button", { name: "Respond" });
  }

  async respond(choice: string): Promise<void> {
    await this.question.click();
    await this.#page.locator(".quick-input-widget .monaco-list-row").filter({ hasText: choice }).click();
  }

  get card(): FrameLocator {
    return this.#appFrame.contentFrame().frameLocator("#active-frame");
  }

  /** True if this part of the card is above the height at which VS Code cuts it. */
  async isWithinCard(part: Locator): Promise<boolean> {
    const [inner, outer] = await Promise.all([part.boundingBox(), this.#appFrame.boundingBox()]);
    return inner !== null && outer !== null && inner.y + inner.height <= outer.y + outer.height;
  }

  /** Resolves when the chat itself, without the card, shows this. */
  showing(text: RegExp): Promise<void> {
    return this.#page.locator(".interactive-session").filter({ hasText: text }).waitFor();
  }

  shown(): Promise<string> {
    return this.#page.locator(".interactive-session").innerText();
  }

  close(): Promise<void> {
    return this.#context.close();
  }

  /** The input that names this model. */
  #chatInput(model = ""): Locator {
    return this.#page.getByRole("textbox", { name: new RegExp(`^Chat Input.*${model}`) });
  }

  #allowButton(): Locator {
    return this.#page.getByRole("button", { name: /^Allow/ }).first();
  }

  /** The workbench loads its parts one after the other, so a command may not be there yet. */
  async #runCommand(title: string): Promise<void> {
    const palette = this.#page.locator(".quick-input-widget");
    const command = palette.locator(".monaco-list-row").filter({ hasText: title }).first();
    await until(command, async () => {
      await this.#page.keyboard.press("Escape");
      await this.#page.keyboard.press("F1");
      await palette.locator("input.input").fill(`>${title}`);
    });
    await command.click();
    await palette.waitFor({ state: "hidden" });
  }
}

/** Repeats the action until the element is shown. */
export async function until(shown: Locator, act: () => Promise<void>): Promise<void> {
  const deadline = performance.now() + HANG_MS;
  for (;;) {
    // eslint-disable-next-line no-await-in-loop -- looks again until it is there
    await act();
    const wait = shown.waitFor({ timeout: LOOK_AGAIN_MS });
    // eslint-disable-next-line no-await-in-loop
    const error = await wait.then(() => undefined, String);
    if (error === undefined) return;
    if (performance.now() > deadline) throw new Error(error);
  }
}

/** Clicks what goes away when it is clicked. */
async function clickAway(locator: Locator): Promise<void> {
  const element = await locator.elementHandle();
  await element?.click();
  await element?.waitForElementState("hidden");
}
