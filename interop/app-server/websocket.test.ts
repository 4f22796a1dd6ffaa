import { cases, webSocketCases } from './cases/index.js';
import { compareServers } from './compare.js';

// What takes long says the same over every transport, and was said over stdio.
compareServers('ws', [...cases.filter(({ slow }) => !slow), ...webSocketCases]);
