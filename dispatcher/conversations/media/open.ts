import type { GuardedClient } from "../../net/guarded/client.ts";
import { type MediaAccessDeps, mediaAccess } from "./access.ts";
import { fetchMedia } from "./fetch.ts";

/** How files of messages are fetched. */
export const mediaOf = ({ client, ...deps }: MediaAccessDeps & { client: Pick<GuardedClient, "request"> }) => ({
  fetchMedia: fetchMedia(client),
  mediaAccess: mediaAccess(deps),
});
