/** A certificate of localhost that nobody but its owner has signed, good for a hundred years, and its key: made for these tests, and used nowhere else. */
export const selfSigned = {
  key: `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgXZxUPy1ZXDWeE6HH
9MPH72i4FehPSPjrCeNNJ/730aGhRANCAATL6pjjQ8U+7Xz8Xu/xpOQC1i0AzN98
XEwDoFVgtm2dsf9zj1I1/lgugcmSkk6OA/dvAR/6DPt9iKLaAlzST/p8
-----END PRIVATE KEY-----
`,
  cert: `-----BEGIN CERTIFICATE-----
MIIBgDCCASWgAwIBAgIUcDA3gBXWRFxHr2+pK2Rnx6eDoXowCgYIKoZIzj0EAwIw
FDESMBAGA1UEAwwJbG9jYWxob3N0MCAXDTI2MTEyMzA1MzY0OFoYDzIxMjYxMDMw
MDUzNjQ4WjAUMRIwEAYDVQQDDAlsb2NhbGhvc3QwWTATBgcqhkjOPQIBBggqhkjO
PQMBBwNCAATL6pjjQ8U+7Xz8Xu/xpOQC1i0AzN98XEwDoFVgtm2dsf9zj1I1/lgu
gcmSkk6OA/dvAR/6DPt9iKLaAlzST/p8o1MwUTAdBgNVHQ4EFgQUcB9qv3tG6Btm
bZrwXllOitpMYI4wHwYDVR0jBBgwFoAUcB9qv3tG6BtmbZrwXllOitpMYI4wDwYD
VR0TAQH/BAUwAwEB/zAKBggqhkjOPQQDAgNJADBGAiEAkIxQUOdp/6QRN6P4Y2ZI
EX6TYmbgP71YmdlR79BWnIgCIQC+TS9xn+yRqT1CdqH6ulSObYskFsBW5KpkVg9X
CTPPdQ==
-----END CERTIFICATE-----
`,
}
