// Names and labels that an application gives. The local protocol takes UTF-8 only: of anything else Protocol Buffers
// would write to the application's standard error, and the daemon would not understand the request.
#pragma once

#include <string_view>

#include "runtime/client/status.h"

namespace fibocast {

bool is_utf8(std::string_view text);
Status check_group_name(std::string_view name);
// `what` begins the sentence if it is not: "the name of the group".
Status check_text(std::string_view what, std::string_view text);

}  // namespace fibocast
