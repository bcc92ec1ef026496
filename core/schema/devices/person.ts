import { type Static, Type } from "typebox";
import { Closed } from "../json/common.ts";
import { named } from "../json/named.ts";
import { AliasId, UpdateUser } from "../people/user.ts";

const { String: Text } = Type;

const { tags, properties, language, timezone, country, location } = UpdateUser.properties;

/** Body of `PATCH /sdk/v1/user`: what a device says of its person. */
export const UpdateDeviceUser = Closed({ tags, properties, language, timezone, country, location });
export type UpdateDeviceUser = Static<typeof UpdateDeviceUser>;

/** Reply to what changes a person: whose device it is, and nothing else of them. */
export const DeviceUser = Type.Object({ user_id: Text({ description: "of the device's person" }) });
export type DeviceUser = Static<typeof DeviceUser>;

/** Body of `PUT /sdk/v1/user/aliases/{label}`. */
export const SetDeviceAlias = Closed({ id: AliasId });
export type SetDeviceAlias = Static<typeof SetDeviceAlias>;

named({ UpdateDeviceUser, DeviceUser, SetDeviceAlias });
