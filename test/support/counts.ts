import { countedLists } from '../../db/lib/counts.ts'

/** A statement that finds where the total of a list is not the number of its rows. */
export const wrongTotals: string = Object.entries(countedLists)
  .map(([list, columns]) => {
    const by = columns.join(', ')
    return `select '${list}' as list, tenant_id, concat_ws(' ', ${by}) as of, sum(n)::int as missed from (
      select tenant_id, ${by}, count(*) as n from ${list} group by tenant_id, ${by}
      union all select tenant_id, ${by}, -sum(n) from list_count where list = '${list}' group by tenant_id, ${by}) x
      group by tenant_id, ${by} having sum(n) <> 0`
  })
  .join(' union all ')
