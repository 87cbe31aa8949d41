import { randomBytes } from 'node:crypto'
import { parseArgs } from 'node:util'
import { ApiError } from '../config/errors.ts'
import { plans } from '../config/plans.ts'
import { Country, Currency, Email, LocaleTag, Obj, OneOf, Opt, Text, TimeZone, Words } from '../config/schema.ts'
import type { Static } from '../config/schema.ts'
import { isCnpj, isCpf } from '../config/tax-ids.ts'
import { compile } from '../config/validator.ts'
import { createTenant } from '../db/admin/index.ts'
import { addMembership, createUser, hashPassword, userByEmail } from '../db/auth/index.ts'
import { assertStrong } from '../db/auth/strength.ts'
import { closeDatabase, inPlatform, openDatabase } from '../db/lib/connection.ts'
import { registerModules } from '../db/register.ts'

const usage = `npm run tenant:create -- --name "Pousada do Mar" --email owner@mar.example --owner "Ana Souza" --plan ${plans.join('|')}
    [--country BR] [--currency BRL] [--time-zone America/Sao_Paulo] [--locale pt-BR] [--legal-name "…"] [--document <CNPJ or CPF>]

Makes a tenant with its plan, book and message templates, and its owner. The owner's password is read from OWNER_PASSWORD; without it
one is made and shown. An existing user keeps the password and becomes the owner.
DATABASE_URL, PEPPERS, DATA_KEY and INDEX_KEY are those of the service.`

const Given = Obj({
  name: Words(1, 120),
  email: Email,
  owner: Words(1, 120),
  plan: OneOf([...plans]),
  country: Country,
  currency: Currency,
  timeZone: TimeZone,
  locale: LocaleTag,
  legalName: Opt(Words(1, 160)),
  document: Opt(Text(1, 30)),
})

const { values } = parseArgs({
  options: {
    name: { type: 'string', default: '' },
    email: { type: 'string', default: '' },
    owner: { type: 'string', default: '' },
    plan: { type: 'string', default: '' },
    country: { type: 'string', default: 'BR' },
    currency: { type: 'string', default: 'BRL' },
    'time-zone': { type: 'string', default: 'America/Sao_Paulo' },
    locale: { type: 'string', default: 'pt-BR' },
    'legal-name': { type: 'string' },
    document: { type: 'string' },
    help: { type: 'boolean' },
  },
})
const { 'time-zone': timeZone, 'legal-name': legalName, document: written, help, ...plain } = values
const document = written?.replace(/[./ -]/g, '')
const sent = {
  ...plain,
  timeZone,
  ...(legalName === undefined ? {} : { legalName }),
  ...(document === undefined ? {} : { document }),
}
const problems = [
  ...(compile(Given)(sent) ?? []),
  ...(document !== undefined && plain.country === 'BR' && !isCnpj(document) && !isCpf(document)
    ? [{ field: 'document', message: 'is neither a CNPJ nor a CPF' }]
    : []),
]
if (help || problems.length > 0) {
  const dashed = (field: string) => field.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
  for (const { field, message } of help ? [] : problems) console.error(`--${dashed(field)} ${message}`)
  console.error(usage)
  process.exit(help ? 0 : 2)
}
const given = sent as Static<typeof Given>

const chosen = process.env.OWNER_PASSWORD || null
const password = chosen ?? randomBytes(18).toString('base64url')

registerModules()
await openDatabase()
try {
  const isKnown = (await inPlatform((trx) => userByEmail(trx, given.email))) !== null
  if (!isKnown) await assertStrong(password, given.email)
  const hash = await hashPassword(password)
  const tenantId = await inPlatform(async (trx) => {
    const { email, owner, locale, legalName: legal = null, document: number = null, ...rest } = given
    const userId = (await userByEmail(trx, email))?.id ?? (await createUser(trx, { email, name: owner, locale, hash }))
    const made = await createTenant(trx, { ...rest, locale, legalName: legal, document: number, billingEmail: email })
    await addMembership(made.trx, { userId, role: 'owner' })
    return made.tenantId
  })
  console.log(`tenant          ${tenantId}`)
  console.log(`owner           ${given.email}${isKnown ? '; the password is as it was' : ''}`)
  if (!isKnown && chosen === null) console.log(`password        ${password}\nIt is not shown again.`)
} catch (error) {
  if (!(error instanceof ApiError)) throw error
  console.error(error.message)
  process.exitCode = 1
} finally {
  await closeDatabase()
}
