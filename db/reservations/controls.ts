import type { ControlDeclaration } from '../financial/index.ts'

const ofBook = (record: string) =>
  `join property p on p.tenant_id = ${record}.tenant_id and p.id = ${record}.property_id and p.book_id = :bookId where ${record}.tenant_id = :tenantId`

/** Balances that the control accounts should have by folios and bookings: what guests owe, and what the house owes them. */
export const reservationControls: ControlDeclaration[] = [
  {
    kind: 'guest',
    text: `select f.id as document_id, f.balance as amount from folio f ${ofBook('f')} and f.stage = 'guest'`,
  },
  {
    kind: 'deposit',
    text: `select f.id as document_id, -f.balance as amount from folio f ${ofBook('f')} and f.stage = 'deposit'
      union all select b.id, b.credit from booking b ${ofBook('b')}`,
  },
]
