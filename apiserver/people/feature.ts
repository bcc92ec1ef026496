import { feature } from "../http/feature.ts";
import { docs } from "./openapi.ts";
import { subscriptionRoutes } from "./subscription-routes.ts";
import { peopleUseCases } from "./use-cases.ts";
import { userRoutes } from "./user-routes.ts";

/** Users and their subscriptions. */
export const people = feature({ make: peopleUseCases, routes: [...userRoutes, ...subscriptionRoutes], ...docs });
