// What is used of the SDK, in one file that is loaded with the first call: in a bundle the names of a CommonJS package are
// known to `import … from` alone.
export { GetObjectCommand, S3 } from "@aws-sdk/client-s3";
export { getSignedUrl } from "@aws-sdk/s3-request-presigner";
