/** The part of later paths that an operation's reply has the id for. */
export const madeBy: Record<string, string> = {
  createNotification: "messageId",
  registerSubscription: "subscriptionId",
  createWebhook: "webhookId",
  createLiveActivityType: "activityType",
  createIncident: "incidentId",
  createTemplate: "templateId",
  createInAppMessage: "inAppMessageId",
  createApiKey: "keyId",
  createWarehouseExport: "warehouseExportId",
};
