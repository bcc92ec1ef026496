import { derivedIdAt, newId } from "#core/domain/ids.ts";
import { identityView, userView } from "#core/domain/people/views.ts";
import { invalid, NotFound } from "#core/errors.ts";
import { OkReply } from "#core/schema/json/error.ts";
import { UpsertUsers, UsersUpserted } from "#core/schema/people/batch.ts";
import { Identity, MergeUser, UpdateIdentity } from "#core/schema/people/identity.ts";
import { UpdateUser, UpsertUser, User } from "#core/schema/people/user.ts";
import { ofApp, ofRow } from "#core/storage/mongo/collection.ts";
import { aliasKey, type UserRow } from "#core/storage/people/users.ts";
import { appOfPath, existing } from "../http/locate.ts";
import { done } from "../http/route.ts";
import { base, ofUser, route, userOfPath } from "./paths.ts";
import { checkUpsert } from "./upsert-user.ts";
import type { People } from "./use-cases.ts";

const shown = async (use: People, user: UserRow): Promise<User> =>
  userView(user, await use.subscriptions.ofUser(ofRow(user), user._id));

/** What can be asked of users. */
export const userRoutes = [
  route({
    id: "upsertUser",
    method: "POST",
    path: `${base}/users`,
    summary: "Make a user, or update the one that has one of these ids",
    status: [201, 200],
    errors: ["HS_ALIAS_CLAIMED", "HS_CONFLICT", "HS_QUOTA_EXCEEDED"],
    body: UpsertUser,
    reply: User,
    locate: appOfPath,
    repeatable: {
      check: ({ body }) => void checkUpsert(body),
      show: async ({ use, resource: app }, id) =>
        shown(use, existing(await use.findUser(ofApp(app), "user_id", id), "user")),
    },
    handle: async ({ use, caller, body, resource: app, newId }) => {
      const { user, isNew } = await use.upsertUser({ caller, app, body, id: newId("user") });
      return { body: await shown(use, user), status: isNew ? 201 : 200 };
    },
  }),

  route({
    id: "upsertUsers",
    method: "POST",
    path: `${base}/users/batch`,
    summary: "Make or update up to 1,000 users; what is wrong with one stops no other",
    body: UpsertUsers,
    reply: UsersUpserted,
    locate: appOfPath,
    repeatable: {},
    handle: async ({ use, caller, body: { users }, resource: app, once }) => {
      const idOf = (index: number): string =>
        once === null ? newId("user", use.now()) : derivedIdAt("user", once.begunAt, once.id, String(index));
      return { body: { results: await use.upsertUsers({ caller, app, users, idOf }) } };
    },
  }),

  route({
    id: "getUser",
    method: "GET",
    path: ofUser,
    summary: "Show a user by one of their ids",
    reply: User,
    locate: userOfPath,
    handle: async ({ use, resource }) => ({ body: await shown(use, resource) }),
  }),

  route({
    id: "updateUser",
    method: "PATCH",
    path: ofUser,
    summary: "Change a user",
    errors: ["HS_ALIAS_CLAIMED", "HS_CONFLICT"],
    body: UpdateUser,
    reply: User,
    locate: userOfPath,
    handle: async ({ use, body, resource }) => ({ body: await shown(use, await use.updateUser(resource, body)) }),
  }),

  route({
    id: "deleteUser",
    method: "DELETE",
    path: ofUser,
    summary: "Delete a user and their subscriptions",
    reply: OkReply,
    locate: userOfPath,
    handle: ({ use, resource }) => done(use.deleteUser(resource)),
  }),

  route({
    id: "eraseUser",
    method: "POST",
    path: `${ofUser}/erase`,
    summary: "Delete a user, and take them out of what was sent and of files",
    reply: OkReply,
    locate: appOfPath, // a repeat finds nobody any more, and gets the first reply
    repeatable: {},
    handle: async ({ use, params: { label = "", id = "" }, resource: app }) => {
      const user = existing(await use.findUser(ofApp(app), label, id), "user");
      return done(use.deleteUser(user, { isErased: true }));
    },
  }),

  route({
    id: "mergeUser",
    method: "POST",
    path: `${ofUser}/merge`,
    summary: "Make a user part of another one, who is shown",
    errors: ["HS_CONFLICT"],
    body: MergeUser,
    reply: User,
    locate: userOfPath,
    repeatable: {
      show: async ({ use, resource }, id) =>
        shown(use, existing(await use.findUser(ofRow(resource), "user_id", id), "user")),
    },
    handle: async ({ use, params, body: { into }, resource: user, signal }) => {
      const target = await use.findUser(ofRow(user), into.label, into.id);
      if (target === null) throw invalid("into", "is nobody's id");
      const { label = "", id = "" } = params;
      const isMerged = target._id === user._id && target.merged_keys?.includes(aliasKey(label, id)) === true;
      return { body: await shown(use, isMerged ? target : await use.mergeUsers(user, target, signal)) };
    },
  }),

  route({
    id: "getIdentity",
    method: "GET",
    path: `${ofUser}/identity`,
    summary: "Show the ids of a user",
    reply: Identity,
    locate: userOfPath,
    handle: async ({ resource }) => ({ body: identityView(resource) }),
  }),

  route({
    id: "updateIdentity",
    method: "PATCH",
    path: `${ofUser}/identity`,
    summary: "Change the ids of a user",
    errors: ["HS_ALIAS_CLAIMED", "HS_CONFLICT"],
    body: UpdateIdentity,
    reply: Identity,
    locate: userOfPath,
    handle: async ({ use, body, resource }) => ({ body: identityView(await use.updateUser(resource, body)) }),
  }),

  route({
    id: "removeIdentity",
    method: "DELETE",
    path: `${ofUser}/identity/{aliasLabel}`,
    summary: "Take one id from a user",
    errors: ["HS_CONFLICT"],
    reply: Identity,
    locate: userOfPath,
    handle: async ({ use, params, resource }) => {
      const without = withoutId(resource, params["aliasLabel"] ?? "");
      return { body: identityView(await use.updateUser(resource, without)) };
    },
  }),
];

/** The change that takes an id away; our own id stays. @throws NotFound for one that the user does not have */
const withoutId = ({ external_id: externalId, aliases }: UserRow, label: string): UpdateIdentity => {
  if (label === "external_id" && externalId !== null) return { external_id: null };
  if (Object.hasOwn(aliases, label)) return { aliases: { [label]: null } };
  throw new NotFound("alias");
};
