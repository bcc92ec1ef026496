// What is used of the SDK, in one file that is loaded with the first destination: see core/storage/files/s3/sdk.ts.
export { S3 } from "@aws-sdk/client-s3";
