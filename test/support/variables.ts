/** The environment of every test; imported before anything that reads it. */
const key = (letter: string) => Buffer.alloc(32, letter).toString('base64url')

Object.assign(process.env, {
  NODE_ENV: 'test',
  TZ: 'UTC',
  LOG_LEVEL: process.env.TEST_LOG_LEVEL ?? 'silent',
  HOST: '127.0.0.1',
  PASETO_KEYS:
    'test1:active:k4.secret.ARq-pKWI4TXcC9Js_GbaW-8nYcmMMN5sW5ZIsQlkaqvrWuDCQHhqoxK--cDXgeZoPTMV-wwlT_UlJ-mFtZYydA',
  TOKEN_KEY: key('t'),
  PEPPERS: `test1:${key('p')}`,
  DATA_KEY: `test1:${key('d')}`,
  INDEX_KEY: key('i'),
  MOVE_KEY: key('m'),
  SUPERUSER_MFA: 'optional',
  SANDBOX_GATEWAY: 'on',
  SANDBOX_PIX: 'on',
  SANDBOX_FISCAL: 'on',
  ALLOW_PRIVATE_ADDRESSES: 'off',
})
for (const name of [
  'DATABASE_URL',
  'DATABASE_OWNER_URL',
  'REDIS_URL',
  'SMTP_URL',
  'WORKER_QUEUES',
  'TRUSTED_PROXIES',
  'CORS_ORIGINS',
])
  delete process.env[name]
