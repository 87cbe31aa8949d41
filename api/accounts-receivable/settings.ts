import { reminderChannels } from '../../config/dunning.ts'
import { fiscalAdapters } from '../../config/fiscal.ts'
import { sampleId } from '../../config/samples.ts'
import { Bool, Count, Int, List, Nullable, Obj, OneOf, Opt, Sparse, Text, Uuid, Words } from '../../config/schema.ts'
import { readSettings, setSettings } from '../../db/accounts-receivable/index.ts'
import { bookOf } from '../../db/documents/index.ts'
import { can } from '../lib/access/kinds.ts'
import { route } from '../lib/route.ts'

const path = '/api/tenants/:tenantId/accounts-receivable/settings'

const Prefix = Text(0, 10, { pattern: '^[A-Za-z0-9/._-]{0,10}$' })
const Series = Obj({ prefix: Prefix, next: Int(1, 9_007_199_254_740_991) }, { title: 'DocumentSeries' })
const Step = Obj(
  {
    level: Int(1, 8),
    /** After the due date; before it where below 0. */
    days: Int(-30, 180),
    channels: List(OneOf([...reminderChannels]), { min: 1, max: 2 }, { uniqueItems: true }),
    stopCredit: Bool,
  },
  { title: 'DunningStep' },
)
const dunning = {
  enabled: Bool,
  steps: List(Step, { max: 8 }),
  minimum: Int(0, 10_000_000_000_000),
  hour: Int(8, 19),
}
const lateCharges = { fineRate: Int(0, 1_000), monthlyInterestRate: Int(0, 1_000) }
const FiscalCode = (max: number) => Nullable(Text(1, max, { pattern: '^[0-9A-Za-z./-]{1,30}$' }))
const fiscal = {
  adapter: OneOf([...fiscalAdapters]),
  automatic: Bool,
  cityCode: FiscalCode(10),
  cityRegistration: FiscalCode(20),
  serviceCode: FiscalCode(20),
  nationalServiceCode: Nullable(Text(6, 6, { pattern: '^[0-9]{6}$' })),
  nbsCode: FiscalCode(12),
  issRate: Int(0, 10_000),
}
const numbering = { invoice: Series, credit_note: Series, receipt: Series, rps: Series }
const accounts = { badDebtAccountId: Nullable(Uuid), allowanceAccountId: Nullable(Uuid) }

const ReceivableSettings = Obj(
  {
    bookId: Uuid,
    /** Counts the changes; 0 while the book has no settings of its own. */
    version: Count,
    numbering: Obj(numbering),
    dunning: Obj(dunning),
    lateCharges: Obj(lateCharges),
    fiscal: Obj({ ...fiscal, hasCredentials: Bool }),
    ...accounts,
  },
  { title: 'ReceivableSettings' },
)

const read = route({
  id: 'receivableSettings.read',
  method: 'GET',
  path,
  summary: 'Read numbering, dunning rules, late charges and fiscal settings',
  access: can('read', 'ReceivableSettings'),
  query: Obj({ bookId: Opt(Uuid) }),
  example: { bookId: sampleId('bookId') },
  returns: ReceivableSettings,
  errors: ['reference_not_found'],
  handle: async ({ trx, query }) => readSettings(trx, await bookOf(trx, query)),
})

const set = route({
  id: 'receivableSettings.set',
  method: 'PUT',
  path,
  summary: 'Set numbering, dunning rules, late charges and fiscal settings',
  description:
    'What is left out stays as it is; the version goes up with each change. `next` of a series only grows, and a jump needs `numberingReason`. Rates are in basis points. Credentials are kept sealed and never shown; null takes them away.',
  access: can('update', 'ReceivableSettings'),
  query: Obj({ bookId: Opt(Uuid) }),
  body: Obj({
    numbering: Opt(
      Sparse(
        Obj(
          Object.fromEntries(Object.keys(numbering).map((kind) => [kind, Sparse(Series)])) as {
            [Kind in keyof typeof numbering]: ReturnType<typeof Sparse<typeof Series.properties>>
          },
        ),
      ),
    ),
    numberingReason: Opt(Words(3, 500)),
    dunning: Opt(Sparse(Obj(dunning))),
    lateCharges: Opt(Sparse(Obj(lateCharges))),
    fiscal: Opt(Sparse(Obj({ ...fiscal, credentials: Nullable(Words(1, 4_000)) }))),
    badDebtAccountId: Opt(Nullable(Uuid)),
    allowanceAccountId: Opt(Nullable(Uuid)),
  }),
  example: {
    dunning: {
      enabled: true,
      steps: [
        { level: 1, days: 3, channels: ['email'], stopCredit: false },
        { level: 2, days: 15, channels: ['email', 'whatsapp'], stopCredit: true },
      ],
      minimum: 1_000,
      hour: 9,
    },
    lateCharges: { fineRate: 200, monthlyInterestRate: 100 },
  },
  returns: ReceivableSettings,
  errors: [
    'reference_not_found',
    'version_conflict',
    'number_not_growing',
    'account_not_usable',
    'fiscal_not_configured',
  ],
  handle: async ({ trx, query, body, expectedVersion }) => {
    const book = await bookOf(trx, query)
    await setSettings(trx, book, body, expectedVersion)
    return readSettings(trx, book)
  },
})

export const routes = [read, set]
