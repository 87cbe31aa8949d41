import '../test/support/variables.ts'

// The processes of a bench are those of a development start; its strangers come from addresses of their own, as through a proxy.
process.env.NODE_ENV = 'development'
process.env.TRUSTED_PROXIES = '127.0.0.1'
