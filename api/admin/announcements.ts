import { plans } from '../../config/plans.ts'
import { Bool, Instant, List, LocalName, LocalText, Nullable, Obj, OneOf, Opt, Uuid } from '../../config/schema.ts'
import { listAnnouncements, replaceAnnouncements } from '../../db/admin/index.ts'
import type { Announcement } from '../../db/admin/index.ts'
import { admitSuperuser, requireSession } from '../lib/access/admission.ts'
import { signedIn, superuser } from '../lib/access/kinds.ts'
import { paged } from '../lib/paged.ts'
import { route } from '../lib/route.ts'

/** Nothing: everybody. */
const Audience = Obj({
  plans: Opt(List(OneOf([...plans]), { max: 3 }, { uniqueItems: true })),
  tenantIds: Opt(List(Uuid, { max: 1_000 }, { uniqueItems: true })),
})
const fields = {
  kind: OneOf(['info', 'maintenance', 'incident', 'deprecation']),
  title: LocalName,
  body: LocalText,
  audience: Audience,
  startsAt: Instant,
  endsAt: Nullable(Instant),
}
const Shown = Obj({ id: Uuid, ...fields }, { title: 'Announcement' })

const shown = ({ plans: of, tenantIds, ...one }: Announcement) => ({
  ...one,
  audience: { ...(of.length > 0 ? { plans: of } : {}), ...(tenantIds.length > 0 ? { tenantIds } : {}) },
})

const replace = route({
  id: 'superuser.announcements.replace',
  method: 'PUT',
  path: '/superuser/announcements',
  summary: 'Replace the set of announcements',
  description:
    'What is sent is what there is. One with the `id` of a present one changes that one. An audience of neither plans nor tenants is everybody. Level N2 writes and removes incidents and maintenance alone.',
  access: superuser('N2', 'update', 'Announcement'),
  errors: ['level_required'],
  body: Obj({ announcements: List(Obj({ id: Opt(Uuid), ...fields }), { max: 50 }) }),
  example: {
    announcements: [
      {
        kind: 'maintenance',
        title: { en: 'Maintenance on Sunday' },
        body: { en: 'The service pauses for ten minutes at 03:00 UTC.' },
        audience: { plans: ['Starter'] },
        startsAt: '2026-11-20T12:00:00Z',
        endsAt: '2026-11-22T04:00:00Z',
      },
    ],
  },
  returns: Obj({ announcements: List(Shown, { max: 50 }) }),
  handle: async ({ trx, body, level }) => {
    const found = await replaceAnnouncements(
      trx,
      level,
      body.announcements.map(({ audience, ...one }) => ({
        ...one,
        plans: audience.plans ?? [],
        tenantIds: audience.tenantIds ?? [],
      })),
    )
    return { announcements: found.map(shown) }
  },
})

const list = paged({
  id: 'announcements.list',
  path: '/api/announcements',
  summary: 'List announcements that concern the caller',
  description: 'Those that run now for one of your organisations. A superuser may ask for `all`.',
  access: signedIn('read', 'Announcement'),
  errors: ['mfa_required'],
  query: { all: Opt(Bool) },
  of: Shown,
  find: async ({ trx, caller, query: { all = false, ...paging } }) => {
    requireSession(caller)
    if (all) await admitSuperuser(caller, { kind: 'superuser', level: 'N2', action: 'read', subject: 'Announcement' })
    const { total, rows } = await listAnnouncements(trx, { userId: caller.userId, all, ...paging })
    return { total, rows: rows.map(shown) }
  },
})

export const routes = [replace, list]
