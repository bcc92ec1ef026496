// What is used of the SDK, in one file that is loaded with the first destination: see core/storage/files/s3/sdk.ts.
export {
  AnonymousCredential,
  ContainerClient,
  newPipeline,
  StorageSharedKeyCredential,
} from "@azure/storage-blob";
