import { inner } from './table.ts'

export const jobsData = [
  ...inner(
    'work of the service',
    'jobs',
    'job_archive',
    'external_call',
    'queue_control',
    'provider_gate',
    'relay_turn',
  ),
  ...inner('replies that were given', 'kept_reply'),
]
