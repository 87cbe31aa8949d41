import { randomBytes } from 'node:crypto'
import { parseArgs } from 'node:util'
import { ApiError } from '../config/errors.ts'
import { compile } from '../config/validator.ts'
import { Email, Obj, OneOf, Text } from '../config/schema.ts'
import { enrolTotp } from '../db/auth/second-factor.ts'
import { revokeAll } from '../db/auth/sessions.ts'
import { assertStrong } from '../db/auth/strength.ts'
import { hashPassword } from '../db/auth/hashing.ts'
import { createUser, grantSuperuser, userByEmail } from '../db/auth/users.ts'
import { closeDatabase, inPlatform, openDatabase } from '../db/lib/connection.ts'

const usage = `npm run superuser:create -- --email someone@provider.example --name "Some One" [--level N1|N2]

Makes a user with a superuser's level and a second factor. The password is read from SUPERUSER_PASSWORD; without it one is made
and shown. An existing user keeps the password and gets the level, and a new second factor.
DATABASE_URL, PEPPERS and DATA_KEY are those of the service.`

const Given = Obj({ email: Email, name: Text(1, 120), level: OneOf(['N1', 'N2']) })

const { values } = parseArgs({
  options: {
    email: { type: 'string' },
    name: { type: 'string' },
    level: { type: 'string', default: 'N1' },
    help: { type: 'boolean' },
  },
})
const given = {
  email: values.email ?? '',
  name: values.name ?? '',
  level: values.level === 'N2' ? ('N2' as const) : ('N1' as const),
}
const problems = compile(Given)({ ...given, level: values.level })
if (values.help || problems) {
  for (const { field, message } of values.help ? [] : (problems ?? [])) console.error(`--${field} ${message}`)
  console.error(usage)
  process.exit(values.help ? 0 : 2)
}

const chosen = process.env.SUPERUSER_PASSWORD || null
const password = chosen ?? randomBytes(18).toString('base64url')

await openDatabase()
try {
  if (!(await inPlatform((trx) => userByEmail(trx, given.email)))) await assertStrong(password, given.email)
  const hash = await hashPassword(password)
  const { known, enrolment } = await inPlatform(async (trx) => {
    const user = await userByEmail(trx, given.email)
    const userId = user?.id ?? (await createUser(trx, { email: given.email, name: given.name, locale: 'en', hash }))
    await grantSuperuser(trx, userId, given.level, 'made on the command line')
    // Another second factor: who is signed in signs in anew, with it.
    if (user) await revokeAll(trx, userId, 'mfa')
    return { known: user !== null, enrolment: await enrolTotp(trx, userId, given.email) }
  })
  console.log(`${given.email} is ${given.level}${known ? '; the password is as it was' : ''}`)
  if (!known && chosen === null) console.log(`password        ${password}`)
  console.log(`authenticator   ${enrolment.otpauthUri}`)
  console.log(`recovery codes  ${enrolment.recoveryCodes.join('\n                ')}`)
  console.log('None of this is shown again.')
} catch (error) {
  if (!(error instanceof ApiError)) throw error
  console.error(error.message)
  process.exitCode = 1
} finally {
  await closeDatabase()
}
