import { Currency, Day, Instant, List, Nullable, Obj, Opt, Text, Uuid } from '../../config/schema.ts'
import { sampleDay } from '../../config/samples.ts'
import { deleteExchangeRate, listExchangeRates, readExchangeRate, setExchangeRates } from '../../db/financial/index.ts'
import { can } from '../lib/access/kinds.ts'
import { resource } from '../lib/resource.ts'
import { route } from '../lib/route.ts'
import { stamps } from './schemas.ts'

const rate = Text(1, 21, {
  pattern: '^(0|[1-9][0-9]{0,9})(\\.[0-9]{1,10})?$',
  description: 'Units of `to` for one unit of `from`, in major units, as a decimal.',
})

type Found = { fromCurrency: string; toCurrency: string; rate: string }
/** Without the zeros that the database fills up with. */
const shownRate = (text: string) => (text.includes('.') ? text.replace(/0+$/, '').replace(/\.$/, '') : text)

const ExchangeRate = Obj(
  { id: Uuid, from: Currency, to: Currency, date: Day, rate, usedAt: Nullable(Instant), ...stamps },
  { title: 'ExchangeRate' },
)
const shown = <Row extends Found>({ fromCurrency, toCurrency, rate: stored, ...row }: Row) => ({
  ...row,
  from: fromCurrency,
  to: toCurrency,
  rate: shownRate(String(stored)),
})

const exchangeRates = resource({
  name: 'exchangeRates',
  subject: 'ExchangeRate',
  table: 'exchange_rate',
  path: '/api/tenants/:tenantId/financial/exchange-rates',
  param: 'exchangeRateId',
  record: ExchangeRate,
  read: readExchangeRate,
  show: shown,
})

const list = exchangeRates.list({
  summary: 'List exchange rates by pair and date',
  query: { from: Opt(Currency), to: Opt(Currency), dateFrom: Opt(Day), dateTo: Opt(Day) },
  example: { from: 'EUR', to: 'BRL' },
  find: ({ trx, filter }) => listExchangeRates(trx, filter),
})

const set = route({
  id: 'exchangeRates.set',
  method: 'PUT',
  path: '/api/tenants/:tenantId/financial/exchange-rates',
  summary: 'Set the rates of a date',
  description: 'Pairs that are not named keep their rate. A rate that a finished report used is fixed.',
  access: can('update', 'ExchangeRate'),
  body: Obj({ date: Day, rates: List(Obj({ from: Currency, to: Currency, rate }), { min: 1, max: 100 }) }),
  example: { date: sampleDay(0), rates: [{ from: 'EUR', to: 'BRL', rate: '6.1234' }] },
  returns: Obj({ data: List(ExchangeRate, { max: 100 }) }),
  errors: ['rate_used'],
  handle: async ({ trx, body }) => ({ data: (await setExchangeRates(trx, body.date, body.rates)).map(shown) }),
})

const remove = exchangeRates.remove({
  summary: 'Delete a rate that no report has used',
  errors: ['rate_used'],
  command: ({ trx, id }) => deleteExchangeRate(trx, id),
})

export const routes = [list, set, remove]
