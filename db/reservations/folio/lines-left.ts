import { unprocessable } from '../../../config/errors.ts'
import { prepared } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import type { FolioLineRow } from '../../rows.ts'
import { leftOf } from '../rules/folio-lines.ts'
import type { Left, Line, PartTax } from '../rules/folio-lines.ts'

/** `basis`: of the rule of a tax. `belongs`: a tax that goes with a charge of the folio. */
export type FolioLine = Omit<FolioLineRow, 'taxes'> & { taxes: PartTax[]; basis: string | null; belongs: boolean }
export type LeftOfLine = Left & { row: FolioLine }

/** Lines of a locked folio with what is left of each. 422 `reference_not_found` for a line that the folio does not have. */
export const linesLeft = async (trx: Trx, folioId: string, ids: readonly string[]): Promise<LeftOfLine[]> => {
  const named = [...new Set(ids)]
  const rows = await prepared<FolioLine>(
    trx,
    `with taxes as (
       select t.id from folio_line t where t.folio_id = ? and t.original_line_id = any(?::uuid[]) and t.category = 'tax')
     select l.*, x.basis, l.category is not distinct from 'tax' and o.folio_id is not distinct from l.folio_id as belongs
     from folio_line l left join tax_rule x on x.tenant_id = l.tenant_id and x.id = l.tax_rule_id
     left join folio_line o on o.tenant_id = l.tenant_id and o.id = l.original_line_id
     where l.folio_id = ? and (l.id = any(?::uuid[]) or l.original_line_id = any(?::uuid[]) or l.original_line_id in (select id from taxes))
     order by l.seq`,
    [folioId, named, folioId, named, named],
  )
  return ids.map((id, index) => {
    const row = rows.find((one) => one.id === id)
    if (!row)
      throw unprocessable('reference_not_found', 'The folio does not have this line', [
        { field: `lines.${index}.lineId`, message: `${id} is not a line of the folio` },
      ])
    return { ...leftOf(row satisfies Line, rows), row }
  })
}
