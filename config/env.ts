/** Reads the environment, once. The only place that does. A value that cannot be used ends the start with its name. */
export type NamedKey = { id: string; key: Buffer }
export type PasetoKey = { id: string; status: 'active' | 'verify'; paserk: string }

const environment = process.env

const fail = (name: string, what: string): never => {
  throw new Error(`${name}: ${what}`)
}

const text = (name: string, fallback: string) => environment[name]?.trim() || fallback
const optional = (name: string) => environment[name]?.trim() || null
const list = (name: string, fallback = '') =>
  text(name, fallback)
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '')

const integer = (name: string, fallback: number, min = 0) => {
  const raw = environment[name]?.trim()
  if (!raw) return fallback
  if (!/^\d{1,9}$/.test(raw) || Number(raw) < min) return fail(name, `must be a whole number from ${min}`)
  return Number(raw)
}

const choice = <const V extends string>(name: string, values: readonly V[], fallback: V): V => {
  const raw = environment[name]?.trim()
  if (!raw) return fallback
  return values.find((value) => value === raw) ?? fail(name, `must be one of ${values.join(', ')}`)
}

/** `id:base64url` parts separated by commas; the first is the one in use, the others are still accepted. */
const namedKeys = (name: string, bytes: number): NamedKey[] =>
  list(name).map((part) => {
    const at = part.indexOf(':')
    const key = Buffer.from(part.slice(at + 1), 'base64url')
    if (at < 1 || key.length !== bytes) return fail(name, `each part is id:base64url of ${bytes} bytes`)
    return { id: part.slice(0, at), key }
  })

const bareKey = (name: string): Buffer | null => {
  const raw = optional(name)
  if (raw === null) return null
  const key = Buffer.from(raw, 'base64url')
  return key.length === 32 ? key : fail(name, 'must be 32 bytes as base64url')
}

/** `id:active|verify:k4.…` parts separated by commas. Only the api process gets secret keys. */
const pasetoKeys = (): PasetoKey[] =>
  list('PASETO_KEYS').map((part) => {
    const [id = '', status = '', paserk = ''] = part.split(':')
    const [, kind, key = ''] = /^k4\.(secret|public)\.([\w-]+)$/.exec(paserk) ?? []
    const isWhole = Buffer.from(key, 'base64url').length === (kind === 'secret' ? 64 : 32)
    if (!id || (status !== 'active' && status !== 'verify') || !isWhole)
      return fail('PASETO_KEYS', 'each part is id:active|verify:k4.secret.… or k4.public.…')
    return { id, status, paserk }
  })

const workerQueues = () =>
  list('WORKER_QUEUES').map((part) => {
    const [queue = '', concurrency] = part.split(':')
    /** Null: the places of the queue. */
    const given =
      concurrency === undefined ? null : Number(concurrency) || fail('WORKER_QUEUES', `${part}: name:concurrency`)
    return { queue, concurrency: given }
  })

const environmentName = choice('NODE_ENV', ['production', 'development', 'test'], 'development')
const port = integer('PORT', 3000)

/** The least cost of argon2id for stored passwords (OWASP's minimum). Only tests may hash for less. */
export const leastHashing = { memoryKib: 19_456, passes: 2 }
const hashingFloor = environmentName === 'test' ? { memoryKib: 8, passes: 1 } : leastHashing

export const settings = {
  env: environmentName,
  production: environmentName === 'production',
  host: text('HOST', '127.0.0.1'),
  port,
  /** Of `/metrics` and readiness with its reasons, on loopback. Null: the usual one of the kind of process (`health-server.ts`). */
  metricsPort: optional('METRICS_PORT') === null && environmentName !== 'test' ? null : integer('METRICS_PORT', 0),
  logLevel: choice('LOG_LEVEL', ['silent', 'error', 'warn', 'info', 'debug', 'trace'], 'info'),
  /** The service's role: it neither owns nor bypasses. */
  databaseUrl: text('DATABASE_URL', ''),
  /** The role that owns the tables; for migrations alone. */
  databaseOwnerUrl: text('DATABASE_OWNER_URL', ''),
  databasePool: integer('DATABASE_POOL', 10, 1),
  /** The time that a request waits for a connection before it is answered 503. */
  databasePatienceMs: integer('DATABASE_PATIENCE_MS', 5_000, 1),
  /** The time that a change waits for records that another change holds before it is answered 409. */
  lockPatienceMs: integer('LOCK_PATIENCE_MS', 2_000, 1),
  /** True if connections keep plans of frequent statements. Off behind a pooler that gives each transaction another connection and does not know of plans. */
  databasePrepare: choice('DATABASE_PREPARE', ['on', 'off'], 'on') === 'on',
  redisUrl: text('REDIS_URL', ''),
  redisPrefix: text('REDIS_PREFIX', '{pousada}'),
  /** The time that a request waits for Redis before it goes on without. */
  redisPatienceMs: integer('REDIS_PATIENCE_MS', 100, 1),
  /** Business days may be closed before their calendar day is over, for stories and tests; never where guests sleep. */
  businessDayAhead:
    choice('BUSINESS_DAY_AHEAD', ['on', 'off'], 'off') === 'on' &&
    (environmentName !== 'production' || fail('BUSINESS_DAY_AHEAD', 'must be off in production')),
  publicBaseUrl: text('PUBLIC_BASE_URL', `http://127.0.0.1:${port}`).replace(/\/$/, ''),
  /** The application that people use, where there is one: links in mails to staff lead there. */
  appBaseUrl: optional('APP_BASE_URL')?.replace(/\/$/, '') ?? null,
  corsOrigins: list('CORS_ORIGINS'),
  /** Addresses and networks whose X-Forwarded-For is believed. */
  trustedProxies: list('TRUSTED_PROXIES'),
  /** Connections that one process of the api keeps open, of one address and in all; those of trusted proxies count in all alone. */
  connectionsPerAddress: integer('CONNECTIONS_PER_ADDRESS', 1_000, 1),
  connections: integer('CONNECTIONS', 10_000, 1),
  apiProcesses: integer('API_PROCESSES', 1, 1),
  pasetoKeys: pasetoKeys(),
  tokenKey: bareKey('TOKEN_KEY'),
  peppers: namedKeys('PEPPERS', 32),
  /** Memory and passes of argon2id for passwords. Stored hashes of another cost are renewed at the next sign-in. */
  passwordMemoryKib: integer('PASSWORD_MEMORY_KIB', leastHashing.memoryKib, hashingFloor.memoryKib),
  passwordPasses: integer('PASSWORD_PASSES', leastHashing.passes, hashingFloor.passes),
  dataKeys: namedKeys('DATA_KEY', 32),
  indexKey: bareKey('INDEX_KEY'),
  /** Proves tickets and exports of tenants that move; installations between which they move have the same. */
  moveKey: bareKey('MOVE_KEY'),
  superuserMfa: choice('SUPERUSER_MFA', ['required', 'optional'], 'required'),
  /** A bank for Pix that plays what the text of a charge says. */
  sandboxPix: choice('SANDBOX_PIX', ['on', 'off'], environmentName === 'production' ? 'off' : 'on') === 'on',
  sandboxGateway: choice('SANDBOX_GATEWAY', ['on', 'off'], environmentName === 'production' ? 'off' : 'on') === 'on',
  /** The authority of development, which takes service invoices. */
  sandboxFiscal: choice('SANDBOX_FISCAL', ['on', 'off'], environmentName === 'production' ? 'off' : 'on') === 'on',
  /** The gateway at which the provider of this service collects what tenants pay for it. */
  billingGateway: choice(
    'BILLING_GATEWAY',
    ['none', 'sandbox', 'stripe'],
    environmentName === 'production' ? 'none' : 'sandbox',
  ),
  /** Length of a second of the sandbox gateway's clock. */
  sandboxSecondMs: integer('SANDBOX_SECOND_MS', 1000, 1),
  /** A sandbox gateway elsewhere; without it the processes that run payment jobs bring their own. */
  sandboxUrl: optional('SANDBOX_URL'),
  /** Secrets that sign the sandbox gateway's callbacks: the first signs, all are believed. */
  sandboxCallbackSecrets: list('SANDBOX_CALLBACK_SECRETS', environmentName === 'production' ? '' : 'sandbox-callbacks'),
  /** Hosts of applications of ours that a person may be sent back to from a gateway's page, beside those that properties list. */
  consoleHosts: list('CONSOLE_HOSTS'),
  stripe: {
    secretKey: optional('STRIPE_SECRET_KEY'),
    publishableKey: optional('STRIPE_PUBLISHABLE_KEY'),
    /** Secrets that sign events of the platform's own endpoint, the newest first; all are believed. */
    webhookSecrets: list('STRIPE_WEBHOOK_SECRETS'),
    /** Secrets that sign events of connected accounts. */
    connectWebhookSecrets: list('STRIPE_CONNECT_WEBHOOK_SECRETS'),
    /** A peer in place of Stripe, outside production. */
    apiBase: environmentName === 'production' ? null : optional('STRIPE_API_BASE'),
  },
  /** Port of the channel that plays the driver `simulator` on this machine; 0 where none does. */
  channelSimulatorPort: environmentName === 'production' ? 0 : integer('CHANNEL_SIMULATOR_PORT', 0),
  /** The address for spans, OTLP over HTTP; without it there are none. */
  otlpEndpoint: optional('OTEL_EXPORTER_OTLP_ENDPOINT'),
  smtpUrl: optional('SMTP_URL'),
  /** The address at which the mailbox of development is read. */
  mailboxUrl: environmentName === 'production' ? null : (optional('MAILBOX_URL') ?? null),
  mailFrom: text('MAIL_FROM', 'Pousada <no-reply@pousada.example>'),
  /** PEM of a certificate authority that mail servers of tenants may have beside those that are publicly known. */
  smtpCa: optional('SMTP_CA'),
  twilio: {
    accountSid: optional('TWILIO_ACCOUNT_SID'),
    authToken: optional('TWILIO_AUTH_TOKEN'),
    from: optional('TWILIO_FROM'),
    whatsappFrom: optional('TWILIO_WHATSAPP_FROM'),
    baseUrl: optional('TWILIO_BASE_URL'),
  },
  allowPrivateAddresses:
    choice('ALLOW_PRIVATE_ADDRESSES', ['on', 'off'], 'off') === 'on' && environmentName !== 'production',
  workerQueues: workerQueues(),
  /** A point at which a test wants this process to die; see config/crash.ts. */
  crashAt: environmentName === 'test' ? optional('CRASH_AT') : null,
}

/** The key of a name, or an end of the start that says which variable is missing. */
export const required = <T>(value: T | null | undefined | '', name: string): T =>
  value === null || value === undefined || value === '' ? fail(name, 'is not set') : value

/** Ends the start where something is missing that this kind of process needs sooner or later. */
export const assertKeys = (kind: 'api' | 'worker'): void => {
  required(settings.databaseUrl, 'DATABASE_URL')
  required(settings.redisUrl, 'REDIS_URL')
  if (
    kind === 'api' &&
    !settings.pasetoKeys.some(({ status, paserk }) => status === 'active' && paserk.startsWith('k4.secret.'))
  )
    fail('PASETO_KEYS', 'holds no active secret key')
  if (settings.production && settings.superuserMfa === 'optional')
    fail('SUPERUSER_MFA', 'must be required in production')
  if (kind === 'api') required(settings.peppers[0], 'PEPPERS')
  required(settings.tokenKey, 'TOKEN_KEY')
  required(settings.dataKeys[0], 'DATA_KEY')
  required(settings.indexKey, 'INDEX_KEY')
}
