// SPDX-License-Identifier: Apache-2.0
#include "support/json_instances.h"

template class nlohmann::basic_json<>;
