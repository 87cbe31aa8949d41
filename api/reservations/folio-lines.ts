import { sampleId } from '../../config/samples.ts'
import { Day, Int, List, Obj, OneOf, Opt, PageOf, Text, Uuid, Words } from '../../config/schema.ts'
import { isLimited } from '../../config/roles.ts'
import {
  adjustCharge,
  chargeCategories,
  chargeFolio,
  listLines,
  readFolio,
  readLines,
  transferLines,
} from '../../db/reservations/index.ts'
import type { Trx } from '../../db/lib/connection.ts'
import { can } from '../lib/access/kinds.ts'
import { grantOverride } from '../lib/override.ts'
import { route } from '../lib/route.ts'
import { FolioLine, Minor, PostedLines, Quantity, TransferredLines } from './folio-schemas.ts'
import { folios } from './folios.ts'
import { Override } from './requests.ts'

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

export const routes = [lines, charge, adjust, transfer]
