import { atOnce, reportOf } from '../../config/reports.ts'
import type { ReportKey } from '../../config/reports.ts'
import type { ErrorCode } from '../../config/error-codes.ts'
import { Int, Obj, Opt, pageMeta } from '../../config/schema.ts'
import type { Schema } from '../../config/schema.ts'
import { markRates, readReport } from '../../db/reports/index.ts'
import type { Sight } from '../../db/reports/index.ts'
import { holds } from '../../db/lib/conditions.ts'
import type { OpenOptions } from '../../db/lib/connection.ts'
import { can } from '../lib/access/kinds.ts'
import type { Admission, Caller } from '../lib/caller.ts'
import { route } from '../lib/route.ts'
import type { AnyRoute } from '../lib/route.ts'

/** One state of the ledger for the whole of a report, for as long as an endpoint may take. */
const snapshot: OpenOptions = {
  isolation: 'repeatable read',
  readOnly: true,
  local: { statement_timeout: `${atOnce.seconds}s` },
}

const paging = { page: Opt(Int(1, 100_000)), limit: Opt(Int(1, 1000)) }

type Options = {
  id: string
  key: ReportKey
  summary: string
  description: string
  returns: Schema
  errors?: readonly ErrorCode[]
  example?: Record<string, unknown>
}

/** Reads what a member may see of a report: the conditions of a role on it are its properties, and of attendants their own lines. */
const sightOf = (admission: Admission, subject: string, caller: Caller): Sight => {
  const { propertyIds } = admission
  const seesAll = holds(admission.scope('read', subject), { propertyId: null, attendantId: null })
  return { propertyIds, ...(seesAll || caller.kind !== 'user' ? {} : { own: caller.userId }) }
}

/** A report that is answered at once, by its declaration. Runs answer the same rows. */
export const reportRoute = ({ id, key, summary, description, returns, errors = [], example }: Options): AnyRoute => {
  const { parameters, subject, paged } = reportOf(key)
  return route({
    id,
    method: 'GET',
    path: `/api/tenants/:tenantId/reports/${key.replaceAll('_', '-')}`,
    summary,
    description,
    access: can('read', subject),
    transaction: 'none',
    query: Obj({ ...parameters, ...(paged ? paging : {}) }),
    ...(example ? { example } : {}),
    returns,
    errors: ['not_found', 'range_invalid', 'report_too_large', ...errors],
    handle: async ({ open, query, admission, caller }) => {
      const { page = 1, limit = paged ? 100 : atOnce.rows, ...asked } = query as { page?: number; limit?: number }
      const sight = sightOf(admission, subject, caller)
      const { meta, total, usedRates, ...answer } = await open(
        (trx) => readReport(trx, key, asked, sight, { page, limit }),
        snapshot,
      )
      if (usedRates.length > 0) await open((trx) => markRates(trx, usedRates))
      return { ...answer, meta: paged ? { ...meta, ...pageMeta(page, limit, total) } : meta }
    },
  })
}
