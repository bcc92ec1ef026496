import { type Static, Type } from "typebox";
import { ChannelName, Closed, DateTime, Nullable } from "../json/common.ts";
import { named } from "../json/named.ts";
import { settingSchemas } from "./settings.ts";

const { Array: List, Integer, Object: Group, Optional, String: Text } = Type;

const name = Text({ minLength: 1, maxLength: 128, description: "for people; unique in the organisation" });

/** An app of the organisation. Source: docs/reference/apps.md. */
export const App = Group({
  id: Text(),
  name,
  time_zone: settingSchemas.time_zone,
  channels: List(ChannelName, { description: "those that it has an account for" }),
  removal: Nullable(
    Group({
      started_at: DateTime,
      removed: Integer({ minimum: 0, description: "rows that are gone already" }),
    }),
  ),
  managed: Nullable(Group({ kind: Text(), namespace: Nullable(Text()), name: Text() })),
  created_at: DateTime,
  updated_at: DateTime,
});
export type App = Static<typeof App>;

export const AppList = Group({ data: List(App) });

/** Body of `POST /v1/apps`. */
export const CreateApp = Closed({ name, time_zone: Optional(settingSchemas.time_zone) });
export type CreateApp = Static<typeof CreateApp>;

/** Body of `PATCH /v1/apps/{appId}`. */
export const UpdateApp = Closed({ name: Optional(name), time_zone: Optional(settingSchemas.time_zone) });
export type UpdateApp = Static<typeof UpdateApp>;

named({ App, AppList, CreateApp, UpdateApp });
