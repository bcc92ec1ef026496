import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import type { AddressInfo } from "node:net";
import puppeteer, { type Browser, type Page } from "puppeteer-core";
import type { BoundOutside, OutsideReply } from "../../../apiserver/http/outside.ts";
import { findTool } from "../../../dev/files/find-tool.ts";

/** A browser, and a server of pages as the apiserver sends them. */
export type Site = {
  url: string;
  /** A new page; what the browser complains about is added to `complaints`. */
  open: (path: string, over?: { scheme?: "light" | "dark"; isScripted?: boolean }) => Promise<Page>;
  complaints: string[];
  close: () => Promise<void>;
};

/** Serves what `answer` gives for paths below `prefix`. @throws Error when there is no Chromium */
export const startSite = async (prefix: string, answer: BoundOutside["answer"]): Promise<Site> => {
  const executablePath = findTool("chromium");
  if (executablePath === null) throw new Error("chromium is missing: make install-chart-tools");
  const server = createServer((request, response) => {
    const [path = ""] = (request.url ?? "").split("?");
    const asked = {
      method: request.method ?? "GET",
      parts: path.slice(prefix.length).split("/"),
      target: request.url ?? "",
      header: (name: string) => request.headers[name]?.toString() ?? null,
      ip: "127.0.0.1",
      body: async () => Buffer.alloc(0),
      signal: AbortSignal.timeout(waitsMs),
    };
    void answer(asked)
      .catch((): OutsideReply => ({ status: 404, headers: {}, body: "" }))
      .then(({ status, headers, body }) => {
        response.writeHead(status, headers);
        return response.end(body);
      });
  }).listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const { port } = server.address() as AddressInfo; // sound: it listens on TCP
  const url = `http://127.0.0.1:${port}${prefix}`;
  const browser = await launchBrowser(executablePath);
  const complaints: string[] = [];
  return {
    url,
    complaints,
    open: async (path, { scheme = "light", isScripted = true } = {}) => {
      const page = await newPage(browser, complaints);
      await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: scheme }]);
      await page.setJavaScriptEnabled(isScripted);
      await page.goto(url + path, { waitUntil: "networkidle0" });
      return page;
    },
    close: async () => {
      await browser.close();
      server.close();
    },
  };
};

const waitsMs = 120_000; // they end only what hangs: all of a suite may run beside it

/** Starts a Chromium, each wait for which has a generous limit. */
export const launchBrowser = async (executablePath: string): Promise<Browser> =>
  puppeteer.launch({
    executablePath,
    args: ["--no-sandbox", "--disable-gpu"],
    timeout: waitsMs,
    protocolTimeout: waitsMs,
  });

/** Opens a page of it, whose waits have the same. */
export const blankPage = async (browser: Browser): Promise<Page> => {
  const page = await browser.newPage();
  page.setDefaultTimeout(waitsMs);
  return page;
};

const newPage = async (browser: Browser, complaints: string[]): Promise<Page> => {
  const page = await blankPage(browser);
  page.on("pageerror", (error) => complaints.push(String(error)));
  page.on("requestfailed", (request) => complaints.push(`${request.url()}: ${request.failure()?.errorText}`));
  page.on("console", (message) => {
    if (message.type() === "error") complaints.push(message.text());
  });
  return page;
};

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/**
 * What axe finds that keeps people from using a page: ids of its rules. The page is loaded anew without its
 * Content-Security-Policy, as axe is a script inside of it; `prepare` runs in the page before.
 */
export const barriers = async (
  page: Page,
  prepare = "null",
  waitUntil: "load" | "networkidle0" = "networkidle0",
): Promise<string[]> => {
  await page.setBypassCSP(true);
  await page.reload({ waitUntil });
  await page.evaluate(prepare);
  await page.evaluate(axe);
  type Found = { violations: { id: string; nodes: { html: string }[] }[] };
  const { violations } = (await page.evaluate("axe.run()")) as Found;
  return violations.map(({ id, nodes }) => `${id}: ${nodes[0]?.html}`);
};
