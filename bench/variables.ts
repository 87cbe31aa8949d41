import '../test/support/variables.ts'

/** Strangers of a bench come from addresses of their own, as through a proxy. */
process.env.TRUSTED_PROXIES = '127.0.0.1'
