import { AppError, invalid, NotFound } from "#core/errors.ts";
import type { UpdateDeviceUser } from "#core/schema/devices/person.ts";
import { aliasLabel } from "#core/schema/people/user.ts";
import { ofRow } from "#core/storage/mongo/collection.ts";
import type { SubscriptionRow } from "#core/storage/people/subscription-row.ts";
import type { UserRow, Users } from "#core/storage/people/users.ts";
import type { People } from "../people/use-cases.ts";

export type PersonDeps = Pick<People, "updateUser"> & { users: Pick<Users, "find"> };

/** What a device says of its person. Source: docs/reference/devices.md#people. */
export const ofPerson = (deps: PersonDeps) => ({
  /** Changes tags and the like; maps are merged, null removes. When they have quiet is read, and asks for more. @throws ValidationError */
  update: async (own: SubscriptionRow, body: UpdateDeviceUser): Promise<{ user_id: string }> => {
    if (Object.hasOwn(body.properties ?? {}, "quiet_hours"))
      throw invalid("properties.quiet_hours", "is one of the preferences, which have an operation of their own");
    const { _id: user_id } = await deps.updateUser(await ownerOf(deps, own), body);
    return { user_id };
  },

  /** Gives the person an id under a label. @throws AppError HS_ALIAS_CLAIMED, which does not say whose it is */
  setAlias: async (own: SubscriptionRow, label: string, id: string): Promise<{ user_id: string }> => {
    checkLabel(label);
    const owner = await ownerOf(deps, own);
    await deps.updateUser(owner, { aliases: { [label]: id } }).catch(hiddenOwner);
    return { user_id: owner._id };
  },

  /** Takes the id under a label away. @throws NotFound for a label that the person has no id of */
  removeAlias: async (own: SubscriptionRow, label: string): Promise<{ user_id: string }> => {
    const owner = await ownerOf(deps, own);
    if (!Object.hasOwn(owner.aliases, label)) throw new NotFound("alias");
    await deps.updateUser(owner, { aliases: { [label]: null } });
    return { user_id: owner._id };
  },
});

const isLabel = new RegExp(aliasLabel.pattern, "u");

const checkLabel = (label: string): void => {
  if (!isLabel.test(label))
    throw invalid("label", "must be 1 to 64 small letters, digits and _, and not external_id or user_id");
};

/** The person whose device it is. */
export const ownerOf = async ({ users }: { users: Pick<Users, "find"> }, own: SubscriptionRow): Promise<UserRow> => {
  const owner = await users.find(ofRow(own), "user_id", own.user_id);
  if (owner === null) throw new NotFound("user");
  return owner;
};

const hiddenOwner = (error: unknown): never => {
  if (!(error instanceof AppError) || error.code !== "HS_ALIAS_CLAIMED") throw error;
  throw new AppError("HS_ALIAS_CLAIMED", error.message, { label: error.details["label"] });
};
