import { checkAddress, contactKey } from "#core/channels/addresses.ts";
import { type Clock, dateOf } from "#core/domain/clock.ts";
import { defined } from "#core/domain/defined.ts";
import { personKey } from "#core/domain/people/keys.ts";
import { suppressionView } from "#core/domain/suppressions/views.ts";
import { invalid } from "#core/errors.ts";
import {
  type Suppression,
  type SuppressionListQuery,
  suppressionPaging,
} from "#core/schema/suppressions/suppression.ts";
import type { AppRow } from "#core/storage/apps/apps.ts";
import { ofApp } from "#core/storage/mongo/collection.ts";
import type { SuppressionFilter, Suppressions } from "#core/storage/suppressions/suppressions.ts";
import { type Cursors, type Page, readPage } from "../http/pages.ts";
import type { AddDeps } from "./add.ts";

export type ListDeps = Pick<AddDeps, "subjectsOf"> & {
  suppressions: Pick<Suppressions, "page">;
  cursors: Cursors;
  clock: Clock;
};

/** One page of an app's entries. Source: docs/reference/suppressions.md#list. */
export const listSuppressions =
  (deps: ListDeps) =>
  async (app: AppRow, query: SuppressionListQuery, signal: AbortSignal): Promise<Page<Suppression>> => {
    const of = ofApp(app);
    const about = aboutOf(query);
    const subject = about === null ? {} : { subject: (await deps.subjectsOf(of))(about) };
    const filter = { ...filterOf(query), ...subject };
    return readPage({
      cursors: deps.cursors,
      paging: suppressionPaging,
      list: `suppressions/${app._id}`,
      query,
      read: (page) => deps.suppressions.page(of, filter, page, { now: deps.clock.now(), signal }),
      positionOf: (row) => row._id,
      view: suppressionView,
    });
  };

/** What the entries are about that are asked for; null: anything. */
const aboutOf = ({ address, external_id: externalId }: SuppressionListQuery): string | null => {
  if (address !== undefined && externalId !== undefined) throw invalid("external_id", "cannot be given with address");
  if (externalId !== undefined) return personKey("external_id", externalId);
  if (address === undefined) return null;
  const channel = address.includes("@") ? "email" : "sms"; // one spelling for every channel that phone numbers are used on
  const checked = checkAddress(channel, address);
  if (!checked.ok) throw invalid("address", "must be an e-mail address, or a phone number as E.164");
  return contactKey(channel, checked.address);
};

const filterOf = ({ channel, reason, source, category, from, to }: SuppressionListQuery): SuppressionFilter =>
  defined({ channels: channel, reasons: reason, sources: source, category, from: dateOf(from), to: dateOf(to) });
