import { maskAddress } from "#core/channels/addresses.ts";
import type { AppRow } from "#core/storage/apps/apps.ts";
import type { OfApp } from "#core/storage/mongo/collection.ts";
import type { SubscriptionRow } from "#core/storage/people/subscription-row.ts";
import type { Preferences } from "#core/storage/suppressions/preferences.ts";
import { nowhere, type OutsideReply, type OutsideRequest } from "../http/outside.ts";
import { type Look, lookOf } from "./people/look.ts";
import { choicePage, donePage, type Reader } from "./people/page.ts";
import { record } from "./recording.ts";
import { type LinkDeps, linkOf } from "./tracked.ts";

type Contact = Pick<SubscriptionRow, "token" | "user_id">;

export type LeavingDeps = Omit<LinkDeps, "app"> & {
  app: (id: string) => Promise<AppRow | null>;
  /** Whose mail it was; null when their subscription is gone. */
  contact: (app: Pick<AppRow, "_id" | "tenant_id">, subscriptionId: string) => Promise<Contact | null>;
  preferences: Omit<Preferences, "lift">;
};

/**
 * `GET` shows a page with a button and changes nothing: scanners follow links. `POST`, by that button or by a mail program,
 * unsubscribes; the form of the categories keeps which of them are wanted. Source: RFC 8058 3.
 */
export const leaving =
  (deps: LeavingDeps) =>
  async (request: OutsideRequest): Promise<OutsideReply> => {
    const link = linkOf(deps, "u", request, ["GET", "HEAD", "POST"]);
    const app = await deps.app(link.appId);
    if (app === null) throw nowhere();
    const contact = await deps.contact(app, link.to);
    const look = lookOf(app, request.header("accept-language"));
    const whose = { of: { tenantId: app.tenant_id, appId: app._id }, contact };
    if (request.method !== "POST") return choicePage(look, await readerOf(deps, look, whose));
    const body = (await request.body(mostBytes)).toString("latin1");
    const wanted = wantedCategories(body);
    if (wanted !== null) return chosen(deps, look, whose, wanted);
    const source = isOneClick(body) ? "one_click" : "link";
    const fact = { kind: "unsubscribed", source, reason: null, categories: null } as const;
    await record(deps, { tenantId: app.tenant_id, ...link }, fact, contact?.token ?? null);
    return donePage(look, { ...nobody, who: masked(contact) });
  };

const mostBytes = 16_384; // twenty categories of 64 characters, each of them encoded in nine

/** Sent as a form in either encoding. Source: RFC 8058 3.2. */
const isOneClick = (body: string): boolean => /List-Unsubscribe(=|"\s+)One-Click/i.test(body);

/** The categories that the page's form was sent with; null for anything else. */
const wantedCategories = (body: string): ReadonlySet<string> | null => {
  const form = new URLSearchParams(body);
  return form.get("form") === "categories" ? new Set(form.getAll("category")) : null;
};

type Whose = { of: OfApp; contact: Contact | null };

/** Only categories that the app offers are changed, whatever the form says. */
const chosen = async (
  deps: LeavingDeps,
  look: Look,
  whose: Whose,
  wanted: ReadonlySet<string>,
): Promise<OutsideReply> => {
  const { of, contact } = whose;
  if (contact === null) throw nowhere();
  const about = await deps.preferences.ofContact(of, { channel: "email", ...contact });
  const wishes = new Map(look.categories.map(({ category }) => [category, wanted.has(category)]));
  await deps.preferences.set(of, about, wishes, "link");
  return choicePage(look, await readerOf(deps, look, whose), true);
};

const nobody = { who: null, isOut: false, unwanted: [] };

/** Nothing is looked up for a page that shows nothing of it. */
const readerOf = async (
  { preferences }: Pick<LeavingDeps, "preferences">,
  { categories }: Look,
  { of, contact }: Whose,
): Promise<Reader> => {
  const who = masked(contact);
  if (contact === null || categories.length === 0) return { ...nobody, who };
  const about = await preferences.ofContact(of, { channel: "email", ...contact });
  const held = await preferences.heldBack(of, about);
  return { who, isOut: held.isAll, unwanted: held.categories };
};

const masked = (contact: Contact | null): string | null =>
  contact === null ? null : maskAddress("email", contact.token);
