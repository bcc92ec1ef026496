import { eventCases } from "./events.ts";
import { inAppCases } from "./in-app.ts";
import { inboxCases } from "./inbox.ts";
import { personCases } from "./persons.ts";
import { pushCases } from "./pushes.ts";
import { type Service, startService } from "./service.ts";

describe("a browser with the client", () => {
  let service: Service;
  before(async () => {
    service = await startService();
  });
  afterEach(() => service?.site.closeTabs());
  after(() => service?.stop());

  pushCases(() => service);
  eventCases(() => service);
  inboxCases(() => service);
  inAppCases(() => service);
  personCases(() => service);
});
