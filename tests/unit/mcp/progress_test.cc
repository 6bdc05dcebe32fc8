#include "mcp/progress.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>

#include "fake_scheduler.h"
#include "unit/mcp/recording_transport.h"

namespace mcp {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class Unanswered : public ReplySink {
 public:
  void Deliver(const RequestId*, Line) override {}
};

TEST(Progress, IsNotSentToAClientThatDoesNotRead) {
  RecordingTransport transport;
  InFlight in_flight(transport);
  transcripts::FakeScheduler scheduler;
  ProgressSender progress(transport, in_flight,
                          in_flight.Open(*RequestId::From(1), std::make_shared<Unanswered>()), "7",
                          true, scheduler);
  transport.has_room = false;
  progress.Report("for nobody");
  EXPECT_THAT(transport.lines, IsEmpty());
  transport.has_room = true;
  progress.Report("read again");
  EXPECT_THAT(transport.lines, ElementsAre(HasSubstr("read again")));
}

}  // namespace
}  // namespace mcp
