import { contextOf, sql, sqlOne } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import { plainText } from '../lib/sealing/index.ts'
import type { Payee } from './payee.ts'

/** A payee as a document names it: a supplier, or a name that may be that of a supplier. */
type Identity = { payeeKey: string; supplierId: string | null; document: string | null; names: string[] }

const columns = `t.payee_key, t.supplier_id, coalesce(s.document, t.payee_document) as document,
  array_remove(array[coalesce(s.legal_name, t.payee_name), s.trade_name], null) as names`

const namesOf = ({ names }: Identity): string[] => names.map(plainText).filter((name) => name !== '')

/** Tells whether two documents are of one payee: by supplier where both name one, by tax number where both say one, else by name. */
const isOne = (one: Identity, other: Identity): boolean => {
  if (one.payeeKey === other.payeeKey) return true
  if (one.supplierId !== null && other.supplierId !== null) return false
  if (one.document !== null && other.document !== null) return one.document === other.document
  const names = new Set(namesOf(other))
  return namesOf(one).some((name) => names.has(name))
}

type Named = Pick<Payee, 'supplierId' | 'payeeName' | 'payeeDocument' | 'payeeKey'>

/** The documents of the payee among those of `table` that `text`, over their rows `t`, selects; the oldest first. */
const ofPayee = async (
  trx: Trx,
  table: 'payable' | 'supplier_credit',
  { supplierId, payeeName, payeeDocument, payeeKey }: Named,
  text: string,
  values: object,
): Promise<string[]> => {
  const { tenantId } = contextOf(trx)
  const found = await sql<Identity & { id: string }>(
    trx,
    `select t.id, ${columns} from ${table} t left join supplier s on s.tenant_id = t.tenant_id and s.id = t.supplier_id
     where t.tenant_id = :tenantId and t.status <> 'void' and ${text} order by t.created_at, t.id`,
    { tenantId, ...values },
  )
  if (found.length === 0) return []
  const supplier =
    supplierId === null
      ? null
      : await sqlOne<{ document: string | null; legalName: string; tradeName: string }>(
          trx,
          `select document, legal_name, trade_name from supplier where tenant_id = ? and id = ?`,
          [tenantId, supplierId],
        )
  const self: Identity = {
    payeeKey,
    supplierId,
    document: supplier?.document ?? payeeDocument,
    names: supplier ? [supplier.legalName, supplier.tradeName] : [payeeName ?? ''],
  }
  return found.filter((one) => isOne(self, one)).map(({ id }) => id)
}

/** Documents with one number take turns until the commit, whatever their payee, so that the second is told of the first. */
export const takeTurn = async (trx: Trx, table: 'payable' | 'supplier_credit', number: string): Promise<void> => {
  await sql(trx, `select pg_advisory_xact_lock(hashtextextended(?, 91))`, [
    `${table} ${contextOf(trx).tenantId ?? ''} ${number.toUpperCase()}`,
  ])
}

/** The bill of a payee, named as a supplier or by name, with a number and series (R5); null where there is none. `self` is not looked at. */
export const twinOf = async (
  trx: Trx,
  payee: Named,
  { number, series, self }: { number: string; series: string; self: string | null },
): Promise<string | null> => {
  const text = `upper(t.number) = upper(cast(:number as text)) and t.series = :series and t.id is distinct from cast(:self as uuid)`
  const [first = null] = await ofPayee(trx, 'payable', payee, text, { number, series, self })
  return first
}

/** The credit note of a payee with a number; null where there is none. */
export const creditTwinOf = async (trx: Trx, payee: Named, number: string): Promise<string | null> => {
  const text = `upper(t.number) = upper(cast(:number as text))`
  const [first = null] = await ofPayee(trx, 'supplier_credit', payee, text, { number })
  return first
}

/** Up to five other bills of a payee with one gross and day of issue. */
export const likenessesOf = async (
  trx: Trx,
  bill: Named & { id: string; gross: number; issuedOn: string },
): Promise<string[]> => {
  const text = `t.issued_on = cast(:issuedOn as date) and t.gross = :gross and t.id <> :id`
  const { id, gross, issuedOn } = bill
  return (await ofPayee(trx, 'payable', bill, text, { id, gross, issuedOn })).slice(0, 5)
}
