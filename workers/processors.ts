import type { Processor } from './lib/processor.ts'
import { processors as accountsPayable } from './accounts-payable/index.ts'
import { processors as receivableMessages } from './accounts-receivable/messages.ts'
import { processors as accountsReceivable } from './accounts-receivable/index.ts'
import { processors as admin } from './admin/index.ts'
import { processors as auth } from './auth/index.ts'
import { processors as cash } from './cash/index.ts'
import { processors as channels } from './channels/index.ts'
import { processors as documents } from './documents/index.ts'
import { processors as financial } from './financial/index.ts'
import { processors as fiscal } from './fiscal/index.ts'
import { processors as guests } from './guests/index.ts'
import { processors as inventory } from './inventory/index.ts'
import { processors as issues } from './issues/index.ts'
import { processors as jobs } from './jobs/index.ts'
import { processors as nightAudit } from './night-audit/index.ts'
import { processors as ocp } from './ocp/index.ts'
import { processors as payment } from './payment/index.ts'
import { processors as properties } from './properties/index.ts'
import { processors as reports } from './reports/index.ts'
import { processors as reservations } from './reservations/index.ts'
import { processors as units } from './units/index.ts'
import { processors as webhooks } from './webhooks/index.ts'

/** Every processor, one per declared job. */
export const processors: readonly Processor[] = [
  ...accountsPayable,
  ...accountsReceivable,
  ...admin,
  ...auth,
  ...cash,
  ...channels,
  ...documents,
  ...financial,
  ...fiscal,
  ...guests,
  ...inventory,
  ...issues,
  ...jobs,
  ...nightAudit,
  ...ocp,
  ...payment,
  ...properties,
  ...receivableMessages,
  ...reports,
  ...reservations,
  ...units,
  ...webhooks,
]
