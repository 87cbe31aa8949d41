import { addDays } from '../../../config/time.ts'
import { readDispute } from '../../../jobs/payment.ts'
import { createCreditNote, createFiscalDocument, setSettings, startDunning } from '../../accounts-receivable/index.ts'
import { createConnection } from '../../channels/index.ts'
import { createBudget, defaultBook, setBudgetLines } from '../../financial/index.ts'
import { readLocations, startCount } from '../../inventory/index.ts'
import { always } from '../../lib/conditions.ts'
import { contextOf, sqlOne } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import { enqueue } from '../../lib/enqueue.ts'
import { createCampaign } from '../../ocp/index.ts'
import { replaceSeasons } from '../../properties/index.ts'
import { createSchedule, startRun } from '../../reports/index.ts'
import { sol } from '../ids.ts'
import { accountOf } from './money.ts'

const { propertyId } = sol

const idOf = async (trx: Trx, what: string, text: string, values: (string | null)[]): Promise<string> => {
  const found = await sqlOne<{ id: string }>(trx, text, values)
  if (!found) throw new Error(`the demo has no ${what}`)
  return found.id
}

const invoiceOf = (trx: Trx, description: string): Promise<string> =>
  idOf(
    trx,
    `invoice for ${description}`,
    `select r.id from receivable r join receivable_line l on l.tenant_id = r.tenant_id and l.receivable_id = r.id where l.description = ?`,
    [description],
  )

/** A discount that an agency was promised, a service invoice of the city, and reminders from the first day of delay on. */
const writeToAgency = async (trx: Trx, book: { id: string; timeZone: string }): Promise<void> => {
  await setSettings(
    trx,
    book,
    {
      dunning: { enabled: true },
      fiscal: {
        adapter: 'sandbox',
        cityCode: '3303807',
        cityRegistration: '998877',
        serviceCode: '0901',
        issRate: 500,
      },
    },
    null,
  )
  await createCreditNote(
    trx,
    { receivableId: await invoiceOf(trx, 'Passeio de escuna'), amount: 20_000, reason: 'Dois lugares não usados' },
    () => {},
  )
  await createFiscalDocument(trx, { receivableId: await invoiceOf(trx, 'Traslado de um grupo') })
  await startDunning(trx, book, contextOf(trx).actor.id)
}

/** The office's outlook: a budget in draft, a report that comes each Monday, and one that is made now. */
export const planAhead = async (trx: Trx, today: string): Promise<void> => {
  const book = await defaultBook(trx)
  const callerId = contextOf(trx).actor.id
  if (!book || callerId === null) throw new Error('the tenant has no book')
  await writeToAgency(trx, book)
  const fiscalYearId = await idOf(
    trx,
    'fiscal year',
    `select id from fiscal_year where book_id = ? and starts_on = ?`,
    [book.id, `${today.slice(0, 4)}-01-01`],
  )
  const budget = await createBudget(trx, { fiscalYearId, propertyId, name: 'Orçamento' }, always)
  const accounts = [await accountOf(trx, '5.1.01'), await accountOf(trx, '4.3.08')] as const
  await setBudgetLines(
    trx,
    budget,
    Array.from({ length: 12 }, (_, index) => index + 1).flatMap((periodNumber) => [
      { accountId: accounts[0], periodNumber, amount: 1_250_000 },
      { accountId: accounts[1], periodNumber, amount: 480_000 },
    ]),
  )
  await createSchedule(
    trx,
    {
      name: 'Semana da casa',
      report: 'occupancy',
      parameters: { propertyId: [propertyId], period: 'last_week' },
      format: 'pdf',
      trigger: { type: 'clock', every: 'week', weekDay: 1, at: '07:00' },
      recipients: [callerId],
      ownerId: callerId,
    },
    callerId,
  )
  await startRun(trx, {
    report: 'occupancy',
    parameters: { propertyId: [propertyId], startDate: addDays(today, -2), endDate: addDays(today, -1) },
    format: 'xlsx',
    caller: { id: callerId, isKey: false },
    sight: { propertyIds: null },
  })
}

/** The house's outlook: its seasons, a count of the bar that is under way, a campaign and a channel that are not begun yet. */
export const prepareHouse = async (trx: Trx, today: string): Promise<void> => {
  const year = Number(today.slice(0, 4))
  await replaceSeasons(trx, propertyId, [
    {
      code: 'HIGH',
      name: 'Alta temporada',
      colour: '#c2410c',
      ranges: [year, year + 1].map((one) => ({ from: `${one}-12-15`, to: `${one + 1}-02-28` })),
    },
    {
      code: 'LOW',
      name: 'Baixa temporada',
      colour: '#0e7490',
      ranges: [year, year + 1].map((one) => ({ from: `${one}-05-01`, to: `${one}-06-30` })),
    },
  ])
  const bar = (await readLocations(trx, propertyId)).data.find(({ code }) => code === 'BAR')
  await startCount(trx, { locationId: bar?.id ?? '', note: 'Contagem do fim do mês' })
  await createCampaign(trx, {
    propertyId,
    name: 'Volte no inverno',
    templateId: await idOf(trx, 'template', `select id from message_template where key = ?`, ['low-season']),
    segment: { languages: ['pt-BR'] },
  })
  await createConnection(trx, {
    propertyId,
    name: 'Mar de Canais',
    driver: 'simulator',
    endpointUrl: 'https://simulator.channels.test/',
    externalPropertyId: 'POUSADA-DO-SOL',
  })
}

/** Reads the dispute that a payer opens at the gateway some seconds after the payment: its callback may come before the api listens. */
export const hearOfDispute = async (trx: Trx): Promise<void> => {
  const paid = await sqlOne<{ reference: string; openedAt: Date }>(
    trx,
    `select p.external_id as reference, p.captured_at + interval '4 seconds' as opened_at from payment p join booking b on b.tenant_id = p.tenant_id and b.id = p.target_id
     where b.external_reference = ? and p.status = 'captured'`,
    ['SOL-410'],
  )
  const { tenantId, gatewayAccountId } = sol
  if (paid)
    await enqueue(
      trx,
      readDispute,
      { tenantId, gatewayAccountId, reference: paid.reference.replace(/^ch_/, 'dp_') },
      { at: paid.openedAt },
    )
}
