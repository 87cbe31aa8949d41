import { sampleId } from '../../config/samples.ts'
import { Bool, Day, Int, List, Nullable, Obj, OneOf, Opt, Text, Uuid, Words } from '../../config/schema.ts'
import {
  changeFolio,
  closeFolio,
  folioBalances,
  folioKinds,
  invoiceFolio,
  listFolios,
  openFolio,
  readFolio,
  reopenFolio,
  routedCategories,
  setRouting,
  readRouting,
} from '../../db/reservations/index.ts'
import { can } from '../lib/access/kinds.ts'
import { resource } from '../lib/resource.ts'
import { route } from '../lib/route.ts'
import { billingErrors, refuseBilling } from './billing.ts'
import { Price } from '../properties/schemas.ts'
import { Folio, FolioStatus, FolioListed, Label } from './folio-schemas.ts'

/** Lines are written under the lock of their folio, after that of the business day. */
export const folios = resource({
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

export const routes = [list, create, read, change, close, reopen, invoice, routing]
