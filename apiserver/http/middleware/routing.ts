import { AppError, NotFound } from "#core/errors.ts";
import { deprecationHeaders } from "../deprecation.ts";
import { requireDecodable } from "../protocol/protocol.ts";
import type { Route } from "../route.ts";
import type { Check } from "../state.ts";

/**
 * Finds the row of the table that a request means; 404 and 405 for those that mean none. HEAD means GET. Names are
 * compared as they are sent: neither in another case nor percent-encoded are they the same. Of several paths that fit,
 * the one with a name where the others have a parameter is meant, whatever its methods: `webhooks/preview`, not
 * `webhooks/{webhookId}`. Source: OpenAPI 3.1, "Path Templating Matching".
 */
export const routing = (routes: readonly Route[]): Check => {
  const paths = pathsOf(routes);
  const deprecations = deprecationsOf(routes);
  return (ctx) => {
    requireDecodable("path", ctx.path); // such a path names nothing
    const given = ctx.path.split("/");
    const path = paths.find(({ parts }) => fits(parts, given));
    if (path === undefined) return new NotFound("route");
    const route = path.routes.get(ctx.method === "HEAD" ? "GET" : ctx.method);
    if (route === undefined) return notAllowed(ctx.method, [...path.routes.keys()]);
    ctx.state.matched = ctx.state.route = route;
    ctx.state.params = paramsOf(path.parts, given);
    Object.assign(ctx.state.headers, deprecations.get(route));
    return null;
  };
};

/** The headers of those that will be taken away. */
const deprecationsOf = (routes: readonly Route[]): Map<Route, Record<string, string>> =>
  new Map(
    routes.flatMap((route) => (route.deprecated === undefined ? [] : [[route, deprecationHeaders(route.deprecated)]])),
  );

const usualBodyMs = 60_000;

/** How long a request may take to come: as long as its route says that takes a file. */
export const bodyMsOf = (routes: readonly Route[]) => {
  const forms = pathsOf(routes.filter(({ form }) => form !== undefined));
  return ({ method = "", url = "" }: { method?: string | undefined; url?: string | undefined }): number => {
    const given = (url.split("?")[0] ?? "").split("/");
    const path = forms.find(({ parts }) => fits(parts, given));
    return path?.routes.get(method)?.form?.timeoutMs ?? usualBodyMs;
  };
};

/** A path of the table, cut at its slashes, and its operations by their methods. */
type Path = { parts: string[]; routes: Map<string, Route> };

/** Those with names first, part by part. */
const pathsOf = (routes: readonly Route[]): Path[] =>
  [...Map.groupBy(routes, ({ path }) => path)]
    .map(([path, own]) => ({ parts: path.split("/"), routes: new Map(own.map((route) => [route.method, route])) }))
    .sort((a, b) => (rankOf(a) < rankOf(b) ? -1 : 1));

const rankOf = ({ parts }: Path): string => parts.map((part) => (isParameter(part) ? "1" : "0")).join("");

const isParameter = (part: string): boolean => part.startsWith("{");

const fits = (parts: readonly string[], given: readonly string[]): boolean =>
  parts.length === given.length && parts.every((part, i) => (isParameter(part) ? given[i] !== "" : given[i] === part));

const paramsOf = (parts: readonly string[], given: readonly string[]): Record<string, string> =>
  Object.fromEntries(
    parts.flatMap((part, i) => (isParameter(part) ? [[part.slice(1, -1), decodeURIComponent(given[i] ?? "")]] : [])),
  );

const notAllowed = (method: string, methods: readonly string[]): AppError => {
  const allowed = methods.flatMap((one) => (one === "GET" ? ["HEAD", "GET"] : [one]));
  return new AppError("HS_METHOD_NOT_ALLOWED", `${method} is not allowed here`, { allowed });
};
