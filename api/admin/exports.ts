import { Count, Instant, Int, Nullable, Obj, OneOf, Opt, Text, Uuid } from '../../config/schema.ts'
import { readExport, readExportPart, requestExport } from '../../db/admin/index.ts'
import { requireRecent } from '../lib/access/admission.ts'
import { superuser } from '../lib/access/kinds.ts'
import { Bytes } from '../lib/bytes.ts'
import { presenter } from '../lib/present.ts'
import { Reason, trimmed } from '../lib/reason.ts'
import { route } from '../lib/route.ts'

const Export = Obj(
  {
    id: Uuid,
    tenantId: Uuid,
    status: OneOf(['queued', 'running', 'ready', 'failed', 'expired']),
    reason: Text(1, 500),
    parts: Count,
    bytes: Count,
    records: Count,
    /** Of all parts, one after the other. */
    sha256: Nullable(Text(64, 64)),
    tablesDone: Count,
    tables: Count,
    error: Nullable(Text(0, 300)),
    requestedBy: Nullable(Uuid),
    createdAt: Instant,
    readyAt: Nullable(Instant),
    expiresAt: Nullable(Instant),
  },
  { title: 'TenantExport' },
)

const path = '/superuser/tenants/:id/export'

const start = route({
  id: 'superuser.tenants.export',
  method: 'POST',
  path,
  summary: 'Start an export of all data of a tenant',
  description:
    'A job writes it: JSON Lines in parts of at most 8 MiB, each a gzip file, of one moment and with sealed fields opened. One that is under way is answered. The owner is told.',
  status: 201,
  access: superuser('N1', 'export', 'Tenant'),
  errors: ['invalid_transition', 'reauthentication_required'],
  body: Obj({ reason: Reason }),
  example: { reason: 'The tenant asked for its data' },
  returns: Export,
  handle: ({ trx, params, body, caller, request }) => {
    requireRecent(caller, request.receivedAt)
    return requestExport(trx, params.id, trimmed(body.reason))
  },
})

const present = presenter(Export)

const read = route({
  id: 'superuser.tenants.readExport',
  method: 'GET',
  path,
  summary: 'Read or download the latest export',
  description:
    'Without `part` the record, with its progress; with `part`, from 1, the bytes of that part. The parts one after the other are one gzip file. It is kept for 7 days.',
  access: superuser('N1', 'export', 'Tenant'),
  errors: ['invalid_transition', 'export_expired', 'reauthentication_required'],
  query: Obj({ part: Opt(Int(1, 1_000_000)) }),
  returns: Bytes(['application/json', 'application/gzip']),
  handle: async ({ trx, params, query, caller, request }) => {
    if (query.part === undefined)
      return { mediaType: 'application/json', bytes: JSON.stringify(present(await readExport(trx, params.id))) }
    requireRecent(caller, request.receivedAt)
    return {
      mediaType: 'application/gzip',
      bytes: await readExportPart(trx, params.id, query.part),
      fileName: `tenant-${params.id}-${String(query.part).padStart(4, '0')}.jsonl.gz`,
    }
  },
})

export const routes = [start, read]
