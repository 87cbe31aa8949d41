import { dueWithin, totalDue } from '../../documents/index.ts'
import type { Condition } from '../../lib/conditions.ts'
import { contextOf } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import { onDays } from '../../lib/days.ts'
import { fact, inScope, orderBy, readPage, where } from '../../lib/paging.ts'
import type { Page, Paging, Sort } from '../../lib/paging.ts'
import { byIds, idsLike, partly } from '../../lib/words.ts'
import type { PayableRecord } from '../models.ts'
import { payableSide } from '../side.ts'

export const payableSorts = { issuedOn: 'p.issued_on', createdAt: 'p.created_at', gross: 'p.gross', open: 'p.open' }
export type PayableListed = PayableRecord & {
  net: number
  payee: { supplierId: string | null; name: string; document: string | null }
  dueOn: string | null
}
export type PayableFilter = Paging & {
  status?: string | undefined
  supplierId?: string | undefined
  payeeDocument?: string | undefined
  kind?: string | undefined
  propertyId?: string | undefined
  bookId?: string | undefined
  dueFrom?: string | undefined
  dueTo?: string | undefined
  issuedFrom?: string | undefined
  issuedTo?: string | undefined
  number?: string | undefined
  costCenterId?: string | undefined
  awaitingMe?: boolean | undefined
  onHold?: boolean | undefined
  q?: string | undefined
  scope: Condition
  sort: Sort<keyof typeof payableSorts>
}

/** Bills that wait for an approval of the caller (G21): of a band of theirs, not of their own making, and not approved by them yet. */
const isAwaiting = `p.status = 'awaiting_approval' and coalesce(cast(? as text) = any(p.approval_roles), false)
  and not coalesce(cast(? as uuid) = any(p.editors || array[p.created_by, p.edited_by, p.submitted_by]), false)
  and not exists (select from payable_approval a where a.tenant_id = p.tenant_id and a.payable_id = p.id and a.round = p.round and a.user_id = cast(? as uuid))`

/** A page of bills that the caller may read, the latest first. */
export const listPayables = async (
  trx: Trx,
  filter: PayableFilter,
  { role }: { role: string | null },
): Promise<Page<PayableListed>> => {
  const { tenantId, actor } = contextOf(trx)
  const me = actor.type === 'user' ? actor.id : null
  const conditions = [
    { text: 'p.tenant_id = ?', values: [tenantId] },
    ...inScope(filter.scope, { propertyId: 'p.property_id', createdBy: 'p.created_by' }),
    ...where('p.status = ?', filter.status),
    ...where('p.supplier_id = ?', filter.supplierId),
    ...where('p.payee_document = ?', filter.payeeDocument?.toUpperCase().replace(/[^0-9A-Z]/g, '')),
    ...where('p.kind = ?', filter.kind),
    ...where('p.property_id = ?', filter.propertyId),
    ...where('p.book_id = ?', filter.bookId),
    ...where('upper(p.number) = upper(?)', filter.number),
    ...where(
      `exists (select from payable_line l where l.tenant_id = p.tenant_id and l.payable_id = p.id and l.cost_center_id = ?)`,
      filter.costCenterId,
    ),
    ...(filter.q === undefined
      ? []
      : [
          byIds(
            {
              'p.id': await idsLike(trx, 'payable', partly(filter.q)),
              'p.supplier_id': await idsLike(trx, 'supplier', partly(filter.q.toLowerCase())),
            },
            {
              text: `(strpos(lower(coalesce(p.number, '')), lower(?)) > 0 or strpos(lower(coalesce(p.payee_name, '')), lower(?)) > 0
                or exists (select from supplier q where q.tenant_id = p.tenant_id and q.id = p.supplier_id and strpos(q.search, lower(?)) > 0))`,
              values: [filter.q, filter.q, filter.q],
            },
          ),
        ]),
  ]
  const due = dueWithin(payableSide, filter)
  const isMore = [filter.issuedFrom, filter.issuedTo, filter.awaitingMe, filter.onHold].some((one) => one !== undefined)
  return readPage<PayableListed>(
    trx,
    {
      columns: `p.*, p.total as net, jsonb_build_object('supplierId', p.supplier_id, 'name', coalesce(s.legal_name, p.payee_name), 'document', coalesce(s.document, p.payee_document)) as payee,
        (select min(i.due_on) from payable_installment i where i.tenant_id = p.tenant_id and i.payable_id = p.id and i.open > 0) as due_on`,
      from: 'payable p',
      joins: 'left join supplier s on s.tenant_id = p.tenant_id and s.id = p.supplier_id',
      conditions: [...conditions, ...due],
      total: isMore ? null : totalDue(trx, payableSide, filter, conditions),
      days: onDays('p.issued_on', { from: filter.issuedFrom, to: filter.issuedTo }),
      facts: [
        ...fact(filter.awaitingMe, isAwaiting, { values: [role, me, me] }),
        ...fact(filter.onHold, 'p.on_hold', { counted: 'payable_held' }),
      ],
      order: orderBy(filter.sort, payableSorts, 'p.id', ['gross', 'open']),
    },
    filter,
  )
}
