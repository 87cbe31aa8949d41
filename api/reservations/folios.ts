import { sampleId } from '../../config/samples.ts'
import { Bool, Day, Int, List, Nullable, Obj, OneOf, Opt, PageOf, Text, Uuid, Words } from '../../config/schema.ts'
import { isLimited } from '../../config/roles.ts'
import {
  adjustCharge,
  changeFolio,
  chargeCategories,
  chargeFolio,
  closeFolio,
  folioBalances,
  folioKinds,
  invoiceFolio,
  listFolios,
  listLines,
  openFolio,
  readFolio,
  readLines,
  reopenFolio,
  routedCategories,
  setRouting,
  readRouting,
  transferLines,
} from '../../db/reservations/index.ts'
import type { Trx } from '../../db/lib/connection.ts'
import { can } from '../lib/access/kinds.ts'
import { grantOverride } from '../lib/override.ts'
import { resource } from '../lib/resource.ts'
import { route } from '../lib/route.ts'
import { billingErrors, refuseBilling } from './billing.ts'
import { Price } from '../properties/schemas.ts'
import { Override } from './requests.ts'
import {
  Folio,
  FolioLine,
  FolioStatus,
  FolioListed,
  Label,
  Minor,
  PostedLines,
  Quantity,
  TransferredLines,
} from './folio-schemas.ts'

/** Lines are written under the lock of their folio, after that of the business day. */
const folios = resource({
  name: 'folios',
  subject: 'Folio',
  table: 'folio',
  path: '/api/tenants/:tenantId/folios',
  param: 'folioId',
  lockedBy: 'command',
  record: Folio,
  read: readFolio,
})

const list = folios.list({
  summary: 'List folios by stay, payer, status or balance',
  description: '`balance` finds folios that are to be paid (`due`), have money over (`credit`), or neither (`zero`).',
  query: {
    propertyId: Opt(Uuid),
    reservationId: Opt(Uuid),
    bookingId: Opt(Uuid),
    groupId: Opt(Uuid),
    kind: Opt(OneOf([...folioKinds])),
    status: Opt(FolioStatus),
    payerGuestId: Opt(Uuid),
    payerCompanyId: Opt(Uuid),
    balance: Opt(OneOf([...folioBalances])),
  },
  of: FolioListed,
  example: { status: 'open', balance: 'due' },
  find: ({ trx, filter }) => listFolios(trx, filter),
})

const create = folios.create({
  summary: 'Open a further guest, company, group or house folio',
  description:
    'Folios of a stay or a group are for a guest or a company that pays a part of it: routing says which. A house folio belongs to neither.',
  idempotency: 'required',
  errors: [
    'reference_not_found',
    'guest_erased',
    'company_archived',
    'invalid_transition',
    'not_found',
    'business_day_changed',
  ],
  body: Obj({
    propertyId: Uuid,
    kind: OneOf(['guest', 'company', 'group', 'house']),
    reservationId: Opt(Uuid),
    /** A confirmed group, in place of a stay. */
    groupId: Opt(Uuid),
    payerGuestId: Opt(Uuid),
    payerCompanyId: Opt(Uuid),
    label: Opt(Label),
  }),
  example: { propertyId: sampleId('propertyId'), kind: 'house', label: 'Staff meals' },
  command: ({ trx, body, admission }) => {
    admission.check('create', 'Folio', { propertyId: body.propertyId })
    return openFolio(trx, body)
  },
})

const read = folios.read({ summary: 'Read a folio with totals by category and tax' })

const change = folios.change({
  summary: 'Change payer, label, credit limit or posting lock',
  description: 'A closed folio changes its label alone. A locked one takes nights, fees and taxes alone.',
  errors: [
    'folio_closed',
    'folio_busy',
    'reference_not_found',
    'guest_erased',
    'company_archived',
    'business_day_changed',
  ],
  body: Obj({
    payerGuestId: Opt(Nullable(Uuid)),
    payerCompanyId: Opt(Nullable(Uuid)),
    label: Opt(Text(0, 60)),
    creditLimit: Opt(Nullable(Price)),
    locked: Opt(Bool),
  }),
  example: { label: 'Minibar', creditLimit: 50_000 },
  command: ({ trx, id, body, expectedVersion }) => changeFolio(trx, id, body, expectedVersion),
})

const lines = route({
  id: 'folios.lines',
  method: 'GET',
  path: `${folios.one}/lines`,
  summary: 'List the lines of a folio',
  access: can('read', 'Folio'),
  query: Obj({
    page: Opt(Int(1, 100_000, { default: 1 })),
    limit: Opt(Int(1, 100, { default: 20 })),
    kind: Opt(FolioLine.properties.kind),
    category: Opt(Text(1, 40)),
    businessDate: Opt(Day),
  }),
  returns: PageOf(FolioLine),
  handle: async ({ trx, params, query, admission }) => {
    admission.check('read', 'Folio', await readFolio(trx, params.folioId))
    const { page = 1, limit = 20, ...filter } = query
    const { total, rows } = await listLines(trx, { ...filter, page, limit, folioId: params.folioId })
    return { data: rows, meta: { page, limit, total, totalPages: Math.ceil(total / limit) } }
  },
})

const posted = async (trx: Trx, folioId: string, lineIds: readonly string[]) => ({
  folio: await readFolio(trx, folioId),
  lines: await readLines(trx, lineIds),
})

const charge = route({
  id: 'folios.charge',
  method: 'POST',
  path: `${folios.one}/charges`,
  summary: 'Post a charge to a folio',
  description:
    'Quantity × unit amount is rounded half up once, and taxes of extras are added or taken out by the rules of the property; service charges and damage are not taxed. An extra brings its own price and name. `override` passes the credit limit of the folio, by the permission of the caller.',
  access: can('charge', 'Folio'),
  record: folios.lock,
  status: 201,
  idempotency: 'required',
  errors: [
    'folio_closed',
    'folio_locked',
    'folio_busy',
    'credit_limit_exceeded',
    'override_not_permitted',
    'extra_unavailable',
    'reference_not_found',
    'business_day_changed',
  ],
  body: Obj({
    category: Opt(OneOf([...chargeCategories])),
    extraId: Opt(Uuid),
    description: Opt(Words(1, 200)),
    quantity: Opt(Quantity),
    unitAmount: Opt(Minor),
    override: Opt(Override),
  }),
  example: { category: 'minibar', description: 'Water', quantity: '2', unitAmount: 600 },
  returns: PostedLines,
  handle: async ({ trx, params: { folioId }, body: { override, ...body }, expectedVersion, caller, admission }) => {
    const { lineIds } = await chargeFolio(trx, folioId, body, {
      override: grantOverride({ caller, admission }, override),
      expectedVersion,
    })
    return posted(trx, folioId, lineIds)
  },
})

const adjust = route({
  id: 'folios.adjust',
  method: 'POST',
  path: `${folios.one}/adjustments`,
  summary: 'Reduce or cancel a charge with a reason',
  description:
    'A positive `amount`, or a `rate` in basis points of the charge; percentages of tax shrink with it. All adjustments of a charge together never exceed it. The reason stands on the folio: write no names.',
  access: can('adjust', 'Folio'),
  record: folios.lock,
  status: 201,
  idempotency: 'required',
  errors: [
    'folio_closed',
    'folio_busy',
    'adjustment_exceeds_charge',
    'line_not_adjustable',
    'override_not_permitted',
    'reference_not_found',
    'business_day_changed',
  ],
  body: Obj({ lineId: Uuid, amount: Opt(Minor), rate: Opt(Int(1, 10_000)), reason: Words(3, 200) }),
  example: { lineId: sampleId('folioLineId'), amount: 100, reason: 'The bottle was open' },
  returns: PostedLines,
  handle: async ({ trx, params: { folioId }, body, expectedVersion, admission }) => {
    const limited = isLimited(admission.role, 'Folio', 'adjust')
    const { lineIds } = await adjustCharge(trx, folioId, body, { limited }, expectedVersion)
    return posted(trx, folioId, lineIds)
  },
})

const transfer = route({
  id: 'folios.transfer',
  method: 'POST',
  path: `${folios.one}/transfers`,
  summary: 'Move or split lines to another folio',
  description:
    'Whole lines, or parts of them by `amount`; taxes go along in proportion. Adjusted and moved parts cannot be moved again; the line that came in can. Payments move within their booking or group.',
  access: can('transfer', 'Folio'),
  record: folios.lock,
  status: 201,
  idempotency: 'required',
  errors: [
    'folio_closed',
    'folio_locked',
    'folio_busy',
    'line_not_transferable',
    'reference_not_found',
    'business_day_changed',
  ],
  body: Obj({
    toFolioId: Uuid,
    lines: List(Obj({ lineId: Uuid, amount: Opt(Minor) }), { min: 1, max: 100 }),
  }),
  example: { toFolioId: sampleId('otherFolioId'), lines: [{ lineId: sampleId('folioLineId'), amount: 200 }] },
  returns: TransferredLines,
  handle: async ({ trx, params: { folioId }, body, expectedVersion }) => {
    const { transferId, lineIds } = await transferLines(trx, folioId, body, expectedVersion)
    const toFolio = await readFolio(trx, body.toFolioId)
    return { ...(await posted(trx, folioId, lineIds)), toFolio, transferId }
  },
})

const close = folios.act('close', {
  summary: 'Close a folio with zero balance',
  errors: ['folio_not_zero', 'payment_in_progress', 'folio_busy', 'business_day_changed'],
  command: ({ trx, id, expectedVersion }) => closeFolio(trx, id, expectedVersion),
})

const reopen = folios.act('reopen', {
  summary: 'Open a closed folio again',
  errors: ['folio_busy', 'business_day_changed', 'folio_invoiced'],
  command: ({ trx, id, expectedVersion }) => reopenFolio(trx, id, expectedVersion),
})

const invoice = folios.act('invoice', {
  summary: 'Turn the balance into an account receivable',
  description:
    'The payer is a company, or a guest, that is a customer. Within its hold and limit the folio is closed and billed; `override` bills beyond the limit. A customer who is billed by the month gets it with the other stays. A folio that is billed already stays as it is.',
  errors: billingErrors,
  body: Obj({
    dueOn: Opt(Day),
    note: Opt(Words(1, 500)),
    override: Opt(Obj({ reason: Words(3, 500) })),
  }),
  example: {},
  command: async ({ trx, id, body, expectedVersion, admission }) => {
    refuseBilling(admission, body.override !== undefined)
    await invoiceFolio(trx, id, body, expectedVersion)
  },
})

const routeFields = {
  folioId: Uuid,
  categories: Opt(List(OneOf([...routedCategories]), { min: 1, max: 9 }, { uniqueItems: true })),
  from: Opt(Day),
  until: Opt(Day),
}

const routing = route({
  id: 'reservations.routing',
  method: 'PUT',
  path: '/api/tenants/:tenantId/reservations/:reservationId/routing',
  summary: 'Set which folio takes which charges',
  description:
    'A charge goes to the first route whose categories and dates match and whose folio is open, else to the primary folio. Without categories a route takes all; taxes and parts of the rate go with their night. What is posted stays where it is, and fees are on the primary folio.',
  access: can('update', 'Folio'),
  record: { table: 'reservation', param: 'reservationId', lockedBy: 'command' },
  errors: ['reference_not_found', 'folio_closed', 'folio_busy', 'rule_violated', 'business_day_changed'],
  body: Obj({ routes: List(Obj(routeFields), { max: 10 }) }),
  example: { routes: [] },
  returns: Obj(
    {
      reservationId: Uuid,
      version: Int(1, 2_147_483_647),
      routes: List(
        Obj({
          folioId: Uuid,
          categories: Nullable(List(Text(1, 40), { max: 20 })),
          from: Nullable(Day),
          until: Nullable(Day),
        }),
        { max: 20 },
      ),
    },
    { title: 'Routing' },
  ),
  handle: async ({ trx, params: { reservationId }, body, expectedVersion }) => {
    await setRouting(trx, reservationId, body.routes, expectedVersion)
    return readRouting(trx, reservationId)
  },
})

export const routes = [list, create, read, change, lines, charge, adjust, transfer, close, reopen, invoice, routing]
