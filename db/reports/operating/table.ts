import { wordOf } from '../../../config/report-texts.ts'
import type { ReportLocale } from '../../../config/reports.ts'
import { contextOf, sql } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import type { Dimension } from '../nights.ts'
import type { Column, ColumnKind } from '../reading.ts'

/** Columns of a file, by the words of their keys. */
export const columnsOf = (locale: ReportLocale, kinds: Readonly<Record<string, ColumnKind>>): Column[] =>
  Object.entries(kinds).map(([key, kind]) => ({
    key,
    title: wordOf(key, locale),
    kind,
    ...(key === 'name' ? { width: 28 } : {}),
  }))

/** SQL of the name of a record `x` in the language of `:locale`, else in another; its code where it has none. */
export const localName = `coalesce(x.name ->> :locale, x.name ->> left(:locale, 2), (select n.value from jsonb_each_text(x.name) n order by n.key limit 1), x.code)`
const tables: Partial<Record<Dimension, string>> = {
  unitType: `select id, ${localName} as name from unit_type x`,
  ratePlan: `select id, ${localName} as name from rate_plan x`,
  channel: `select id, name from channel_connection x`,
  company: `select id, coalesce(nullif(trade_name, ''), legal_name) as name from company x`,
  agency: `select id, coalesce(nullif(trade_name, ''), legal_name) as name from company x`,
  property: `select id, name from property x`,
}

/** Names of the keys of a dimension as people call them today, for files: figures carry keys alone, which stay as they were. */
export const namesOf = async (
  trx: Trx,
  by: Dimension,
  keys: readonly (string | null)[],
  locale: ReportLocale,
): Promise<(key: string | null) => string> => {
  const text = tables[by]
  const ids = keys.filter((key): key is string => key !== null)
  const rows =
    text === undefined || ids.length === 0
      ? []
      : await sql<{ id: string; name: string }>(
          trx,
          `${text} where x.tenant_id = :tenantId and x.id = any(cast(:ids as uuid[]))`,
          { tenantId: contextOf(trx).tenantId, ids, ...(text.includes(':locale') ? { locale } : {}) },
        )
  const names = new Map(rows.map(({ id, name }) => [id, name]))
  return (key) =>
    key === null ? wordOf(by === 'channel' ? 'direct' : 'none', locale) : (names.get(key) ?? wordOf(key, locale))
}
