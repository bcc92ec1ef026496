import { Refused } from "../kit/errors.ts";
import type { Rest } from "./rest.ts";

const mostPages = 50; // of 200: more than an app may have of anything that has a name

/** The id of something that has a unique name in its app. What has the form of an id is one. @throws Refused */
export const idNamed = async (
  rest: Rest,
  { list, what, prefix }: { list: string; what: string; prefix: string },
  named: string,
): Promise<string> => {
  if (new RegExp(`^${prefix}_[0-9A-Z]{26}$`).test(named)) return named;
  let cursor: string | null = "";
  for (let page = 0; page < mostPages && cursor !== null; page++) {
    const after: string = cursor === "" ? "" : `&cursor=${encodeURIComponent(cursor)}`;
    const read: Page = await rest.get<Page>(`${rest.ofApp}/${list}?limit=200${after}`);
    const found = read.data.find(({ name }) => name === named);
    if (found !== undefined) return found.id;
    cursor = read.next_cursor;
  }
  throw new Refused(`the app has no ${what} ${JSON.stringify(named)}`);
};

type Page = { data: { id: string; name: string }[]; next_cursor: string | null };
