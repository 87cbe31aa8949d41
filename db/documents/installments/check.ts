import type { Side } from './side.ts'

const columns = { settled: 'settled', credited: 'credited', writtenOff: 'written_off' } as const

/**
 * SQL of the documents of a book whose amounts are not those of their installments, and of the installments that are not lowered by the sum of their facts: for the
 * integrity checks. `unfinished` are the states in which they need not add up.
 */
export const installmentsText = ({ document, sums }: Side, unfinished: readonly string[]): string => {
  const names = sums.map((sum) => columns[sum])
  const states = unfinished.map((one) => `'${one}'`).join(', ')
  const ofBook = `d.tenant_id = :tenantId and d.book_id = :bookId and d.status not in (${states})`
  return `
    select d.id as ${document}_id, cast(null as uuid) as installment_id, d.open, s.open as by_parts from ${document} d
    cross join lateral (select coalesce(sum(i.amount), 0) as amount, coalesce(sum(i.open), 0) as open,
      ${names.map((name) => `coalesce(sum(i.${name}), 0) as ${name}`).join(', ')}
      from ${document}_installment i where i.tenant_id = d.tenant_id and i.${document}_id = d.id) s
    where ${ofBook} and (d.total, ${names.map((name) => `d.${name}`).join(', ')}) is distinct from (s.amount, ${names.map((name) => `s.${name}`).join(', ')})
    union all
    select d.id, i.id, i.open, i.amount - coalesce(f.lowered, 0) from ${document} d
    join ${document}_installment i on i.tenant_id = d.tenant_id and i.${document}_id = d.id
    left join lateral (select sum(f.amount) as lowered from ${document}_fact f
      where f.tenant_id = i.tenant_id and f.${document}_id = i.${document}_id and f.installment_id = i.id) f on true
    where ${ofBook} and i.open <> i.amount - coalesce(f.lowered, 0)`
}
